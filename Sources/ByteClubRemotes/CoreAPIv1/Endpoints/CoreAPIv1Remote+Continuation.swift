import ByteClubHTTP
import Glibc
import HTTPTypes

extension CoreAPIv1Remote {
    /// Receives a body into a new file, and goes on where the journal says, if there is one.
    ///
    /// What came is kept when the transfer fails or is cancelled, for the next one to go on with.
    func receive(
        _ request: HTTPRequest, to file: String, _ journal: String?, _ options: TaskOptions,
        _ progress: (@Sendable (TaskProgress) -> Void)?
    ) async throws(TransferError) -> (bytes: [UInt8], response: HTTPResponse) {
        let session = try contentSession.session
        guard let journal else {
            let result = try await session.download(
                for: request, to: file, options: options, progress: progress)
            return (result.bytes, result.response)
        }
        var options = options
        options.resumeJournal = journal
        let earlier = LocalFile.read(journal).flatMap { try? ResumeData(bytes: $0) }
        let task =
            earlier.map { session.downloadTask(resuming: $0, request: request, to: file, options: options) }
            ?? session.downloadTask(request, to: file, options: options)
        let outcome = await Self.outcome(of: task, progress)
        let left =
            switch outcome {
            // Such as an answer that the server is busy.
            case .success(let result): result.resumeData
            case .failure(let error): error.resumeData
            }
        if let left { try? LocalFile.write(left.bytes, to: journal) }
        let result = try outcome.get()
        return (result.bytes, result.response)
    }

    private static func outcome(
        of task: SessionTask, _ progress: (@Sendable (TaskProgress) -> Void)?
    ) async -> Result<TaskResult, TransferError> {
        await withTaskCancellationHandler {
            task.resume()
            return await withTaskGroup(of: Void.self) { group in
                // The reader ends with the task: it must see the last counters.
                group.addTask { for await update in task.progressUpdates { progress?(update) } }
                do throws(TransferError) { return .success(try await task.value) } catch { return .failure(error) }
            }
        } onCancel: {
            Task { _ = await task.cancelKeepingResumeData() }
        }
    }
}
