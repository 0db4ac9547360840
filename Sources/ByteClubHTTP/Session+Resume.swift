public import HTTPTypes
import Synchronization

extension Session {
    /// Makes a task that continues a download.
    ///
    /// It asks for the missing bytes, on condition that the file is still the same. Whatever the server answers, the
    /// file is one version's: when the part cannot be continued, because it or the server's file changed, or somebody
    /// uses it already, the download starts over, which nobody is told but by the counters. The response is that of the
    /// whole, status 200 with its length, whatever parts it came in.
    ///
    /// - Parameters:
    ///   - data: From ``SessionTask/cancelKeepingResumeData()``, ``TransferError/resumeData``,
    ///     ``TaskResult/resumeData`` or stored bytes. The task takes its temporary file over when its turn comes.
    ///   - request: What to ask instead of a GET of the old address without fields: for fields such as
    ///     `Authorization`, which resume data never hold, or an address signed anew. It must mean the same resource. One
    ///     that is no GET, or asks for a range itself, cannot continue anything and starts over.
    ///   - path: The file; its folder must exist. A temporary file in another folder is moved; on another file system
    ///     the download starts over.
    ///   - options: What to do differently from the session.
    /// - Returns: A suspended task.
    public func downloadTask(
        resuming data: ResumeData, request: HTTPRequest? = nil, to path: String, options: TaskOptions = .init()
    ) -> SessionTask {
        SessionTask(
            .download(path: path), request ?? data.request, body: .none, options: options, inbox: inbox,
            resumeData: data)
    }
}

extension SessionTask {
    /// Cancels a download so that it can be continued later, and waits for its end.
    ///
    /// The same data are in the error that ``value`` throws. Cancelling the Swift task that waits has no effect.
    ///
    /// - Returns: What ``Session/downloadTask(resuming:request:to:options:)`` takes; nil when nothing came yet, when
    ///   what came cannot be continued (see ``ResumeData``), and when the task had ended or was cancelled before.
    public func cancelKeepingResumeData() async -> ResumeData? {
        let isStarted = cancelKeepingPart()
        do {
            _ = try await value
            return nil
        } catch {
            return error.resumeData ?? (isStarted ? nil : resumeData)
        }
    }

    /// Cancels a download so that its error has the data to continue it with; whether it was ever started.
    @discardableResult
    func cancelKeepingPart() -> Bool {
        let isStarted = shared.withLock { shared in
            if shared.state == .suspended || shared.state == .running { shared.keepsResumeData = true }
            return shared.isStarted
        }
        cancel()
        return isStarted
    }
}
