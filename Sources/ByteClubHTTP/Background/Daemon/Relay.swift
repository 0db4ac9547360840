import ByteClubFiles
import Glibc
import HTTPTypes

/// Makes requests for programs that would have to load libcurl and connect first.
///
/// It keeps a session for each kind of trust until ``close()``. Requests and answers are neither kept nor logged.
actor Relay {
    /// The certificates that a session accepts; the stamp distinguishes a file of authorities from its replacement.
    private struct Trust: Hashable {
        var file: String?
        /// The numbers that change when the file is written to or replaced.
        var stamp: [Int64]?
        var keys: Set<PublicKeyPin>
    }

    /// The longest body that is relayed, in bytes; programs fetch longer ones themselves.
    static let longestBody: Int64 = 8 << 20

    /// One retry, at once, in case a kept connection turns out to be dead; the program decides about all others.
    private static let once: RetryPolicy = {
        var policy = RetryPolicy()
        (policy.statuses, policy.maximumAttempts, policy.firstDelay) = ([], 2, .zero)
        return policy
    }()

    private var sessions: [Trust: Session] = [:]

    /// Makes a request, and returns its response, whatever the status, or the error as a refusal.
    ///
    /// Cancelling the Swift task cancels the request.
    func perform(_ request: RelayedRequest) async -> DaemonAnswer {
        guard request.request.method == .get || request.request.method == .head else {
            return .refused(.badRequest, "only GET and HEAD are relayed")
        }
        let trust = Trust(
            file: request.certificateAuthorityFile, stamp: request.certificateAuthorityFile.flatMap(Self.stamp),
            keys: request.pinnedKeys)
        do throws(TransferError) {
            var options = TaskOptions()
            options.redirects = .ownOrigin
            options.retryPolicy = Self.once
            options.maximumResponseBytes = Int(clamping: min(request.maximumResponseBytes, Self.longestBody))
            options.timeoutForRequest = .milliseconds(max(request.timeoutForRequest, 1))
            let (bytes, response) = try await session(trust).data(for: request.request, options: options)
            return .relayed(RelayedResponse(response: response, bytes: bytes))
        } catch {
            return .refused(error.code, error.message)
        }
    }

    /// Ends all sessions, and cancels running requests.
    func close() async {
        let ended = sessions.values
        sessions = [:]
        for session in ended { await session.invalidateAndCancel() }
    }

    private func session(_ trust: Trust) throws(TransferError) -> Session {
        if let session = sessions[trust] { return session }
        var configuration = SessionConfiguration.ephemeral
        configuration.certificateAuthorityFile = trust.file
        configuration.pinnedKeys = trust.keys
        // Programs with a proxy make their requests themselves.
        configuration.proxy = .none
        let session = try Session(configuration: configuration, name: "relay")
        // A session with an earlier content of the same file is of no more use.
        for old in sessions.keys where old.file == trust.file && old.keys == trust.keys {
            if let ended = sessions.removeValue(forKey: old) { Task { await ended.finishTasksAndInvalidate() } }
        }
        sessions[trust] = session
        return session
    }

    private static func stamp(_ path: String) -> [Int64]? {
        FileStatus(path).map {
            [
                Int64(truncatingIfNeeded: $0.raw.st_dev), Int64(bitPattern: $0.inode), $0.size, $0.modified,
                $0.nanoseconds,
            ]
        }
    }
}
