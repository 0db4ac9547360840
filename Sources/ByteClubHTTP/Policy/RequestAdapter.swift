public import HTTPTypes

/// Changes requests before they are sent, for example signs them.
///
/// It sees the request as it would be sent, the session's fields included, before the first attempt and before every
/// retry. What a redirect leads to is asked for with the fields so made, within the rules for other origins, and a
/// retry after a redirect repeats what was redirected to; adapters see neither. So no secret of theirs can reach an
/// address that a server chose.
public protocol RequestAdapter: Sendable {
    /// Changes one request.
    ///
    /// - Parameters:
    ///   - request: The task's own request as the adapters before left it. It carries the body of the task, which cannot
    ///     be changed here.
    ///   - attempt: Which attempt it is for, from 1.
    /// - Returns: The request to send.
    /// - Throws: Anything; the task then fails with ``TransferError/Code/adapterFailed`` and that error in
    ///   ``TransferError/underlying``, or with the error itself where it is a ``TransferError``.
    func adapt(_ request: HTTPRequest, attempt: Int) async throws -> HTTPRequest
}
