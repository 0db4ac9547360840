/// What becomes of a response's body once its head is there.
public enum ResponseDisposition: Sendable, Hashable {
    /// It goes where the task's kind says.
    case allow
    /// It is not received: the task ends with ``TransferError/Code/cancelled``.
    case cancel
    /// It is written to the file at this path, as a download would, whatever the status; its folder must exist.
    ///
    /// The body is then neither in memory nor streamed. It is decoded where the task's would have been. A download task
    /// keeps its own file instead.
    case download(to: String)
}
