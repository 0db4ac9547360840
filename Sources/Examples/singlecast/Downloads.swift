import ByteClubHTTP
import HTTPTypes

/// The way to the episodes' downloads, which a daemon does whether or not this program lives.
///
/// A program that follows the downloads has the background session. One session at a time can have its identifier, so
/// while another program has it, this one adds downloads as anybody may who speaks with the daemon.
enum Downloads {
    case session(BackgroundSession)
    case control(BackgroundControl)

    static let identifier = "episodes"

    /// Attaches to the session, unless another program has it; starts the daemon where none runs.
    static func open(_ service: BackgroundService) async throws -> Downloads {
        do throws(TransferError) {
            return .session(try await BackgroundSession(configuration: .background(identifier, service: service)))
        } catch  where error.code == .identifierInUse {
            return .control(try await BackgroundControl(service))
        }
    }

    /// Attaches to the session as soon as no other program has it; each try waits for half a second.
    static func attach(_ service: BackgroundService) async throws -> BackgroundSession {
        while true {
            let downloads = try await open(service)
            if case .session(let session) = downloads { return session }
            await downloads.close()
        }
    }

    /// How the downloads stand that the daemon knows, by file.
    func byFile() async throws -> [String: BackgroundStatus] {
        switch self {
        case .session(let session): Self.byFile(try await session.tasks().compactMap(\.status))
        case .control(let control): try await Self.byFile(control)
        }
    }

    /// How the downloads stand, asked without attaching to the session; nothing is told to be taken by that.
    static func byFile(_ control: BackgroundControl) async throws -> [String: BackgroundStatus] {
        byFile(try await control.tasks().filter { $0.identifier == identifier })
    }

    /// Has a download recorded; when it returns, it goes on whatever happens to this program.
    func add(_ episode: Episode, to path: String) async throws {
        let request = try HTTPRequest(url: episode.url)
        var options = BackgroundOptions()
        // A label has no more bytes than that.
        options.label = episode.title.prefix(bytes: 1000)
        switch self {
        case .session(let session):
            try await session.downloadTask(request, to: path, options: options).resume()
        case .control(let control):
            _ = try await control.submit(
                [BackgroundRequest(.download(request, to: path), options: options)], identifier: Self.identifier)
        }
    }

    /// Lets downloads go on that are paused, or were given up.
    func resume(_ ids: [BackgroundTask.ID]) async throws {
        guard !ids.isEmpty else { return }
        switch self {
        case .session(let session):
            for task in try await session.tasks() where ids.contains(task.id) { try await task.resume() }
        case .control(let control): try await control.change(ids, .resume)
        }
    }

    /// Lets go of the downloads, which go on.
    func close() async {
        switch self {
        case .session(let session): await session.invalidate()
        case .control(let control): await control.close()
        }
    }

    /// Of several downloads to a file the last one counts.
    private static func byFile(_ tasks: [BackgroundStatus]) -> [String: BackgroundStatus] {
        var byFile: [String: BackgroundStatus] = [:]
        for task in tasks { if let file = task.file { byFile[file] = task } }
        return byFile
    }
}

extension BackgroundStatus {
    /// Where the download goes.
    var file: String? {
        guard case .download(_, let path) = request.work else { return nil }
        return path
    }
}
