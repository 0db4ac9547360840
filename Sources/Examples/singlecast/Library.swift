import ByteClubHTTP
import ExampleSupport
import FoundationEssentials
import HTTPTypes

/// The program's state: the podcast in `podcast.json`, the feed's last response in `cache`, what the last search has
/// found in `found.json`, and the daemon's files.
struct Library {
    /// `$XDG_STATE_HOME/singlecast`.
    let folder: String
    /// The service of the daemon that downloads.
    let service: BackgroundService

    init() throws {
        service = try .ofThisProgram("singlecast")
        folder = URL(filePath: service.folder).deletingLastPathComponent().path
        try makeFolder(folder, permissions: 0o700)
    }

    /// The podcast.
    ///
    /// - Throws: ``Failure`` if there is none, or its file is damaged.
    func podcast() throws -> Podcast {
        guard let podcast = try stored() else {
            throw Failure(
                .notFound, "no podcast yet: 'singlecast search TERM' finds one, 'singlecast subscribe URL' adds it")
        }
        return podcast
    }

    /// The podcast; nil before the first subscription.
    func stored() throws -> Podcast? {
        guard FileManager.default.fileExists(atPath: file) else { return nil }
        guard let bytes = FileManager.default.contents(atPath: file) else {
            throw Failure(.inputOutput, "\(file) cannot be read")
        }
        guard let podcast = try? JSONDecoder().decode(Podcast.self, from: bytes), podcast.isSound else {
            throw Failure(
                .badData, "\(file) is damaged: remove it and subscribe again; files that are downloaded are found again"
            )
        }
        return podcast
    }

    /// Replaces the podcast's file atomically.
    func save(_ podcast: Podcast) throws {
        do { try JSONEncoder.readable.encode(podcast).write(to: URL(filePath: file), options: .atomic) } catch {
            throw Failure(.inputOutput, "\(file) cannot be written")
        }
    }

    /// Changes the podcast under the lock; returns nil if there is none.
    @discardableResult func change(_ change: (inout Podcast) -> Void) throws -> Podcast? {
        let lock = try lock()
        var podcast = try stored()
        if var changed = podcast {
            change(&changed)
            try save(changed)
            podcast = changed
        }
        lock.release()
        return podcast
    }

    /// Keeps the feeds that a search has found, for ``found(_:)``.
    func keep(_ feeds: [String]) throws {
        do { try JSONEncoder.readable.encode(feeds).write(to: URL(filePath: foundFile), options: .atomic) } catch {
            throw Failure(.inputOutput, "\(foundFile) cannot be written")
        }
    }

    /// The feed with a number in the last search.
    func found(_ number: Int) throws -> String {
        let stored = FileManager.default.contents(atPath: foundFile)
        let feeds = stored.flatMap { try? JSONDecoder().decode([String].self, from: $0) } ?? []
        guard feeds.indices.contains(number &- 1) else {
            throw Failure(.notFound, "the last search has no podcast \(number): see 'singlecast search TERM'")
        }
        return feeds[number - 1]
    }

    /// Waits until no other program changes the podcast or adds downloads.
    func lock() throws -> FileLock { try FileLock(folder + "/lock") }

    /// Reads a feed; the server sends it only if it has changed since the last time.
    func feed(at address: String) async throws -> Feed {
        var configuration = SessionConfiguration.awaited
        configuration.cache = ResponseCache(folder: folder + "/cache")
        let session = try Session(configuration: configuration)
        var options = TaskOptions()
        options.maximumResponseBytes = 16 << 20
        let request = try HTTPRequest(url: address, fields: [.cacheControl: "no-cache"])
        let bytes = try await session.data(for: request, options: options).bytes
        await session.finishTasksAndInvalidate()
        return try Feed(bytes)
    }

    /// The podcast updated from its feed, or unchanged if the feed is not available.
    func refreshed() async throws -> Podcast {
        let known = try podcast()
        do {
            let feed = try await feed(at: known.feed)
            return try change { if $0.feed == known.feed { $0.update(from: feed) } } ?? known
        } catch let error as TransferError {
            tell("the feed cannot be read, so this is as of the last time: \(error)")
            return known
        }
    }

    /// The daemon's downloads by file; the daemon is only started if it has downloads.
    func tasks() async throws -> [String: BackgroundStatus] {
        guard let control = try await BackgroundControl.looking(at: service) else { return [:] }
        let tasks = try await control.episodes()
        await control.close()
        return tasks
    }

    private var file: String { folder + "/podcast.json" }
    private var foundFile: String { folder + "/found.json" }
}

extension SessionConfiguration {
    /// For short requests that a user waits for: only 2xx is a success, and failures are reported soon.
    static var awaited: SessionConfiguration {
        var configuration = SessionConfiguration.default
        configuration.policy.validation = .successful
        configuration.retryPolicy.maximumAttempts = 2
        configuration.timeoutForRequest = .seconds(20)
        return configuration
    }
}

/// Creates a folder and its parents if they are missing.
func makeFolder(_ path: String, permissions: Int? = nil) throws {
    let attributes: [FileAttributeKey: Any]? = permissions.map { [.posixPermissions: $0] }
    do {
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: attributes)
    } catch {
        throw Failure(.cannotWrite, "the folder \(path) cannot be made")
    }
}
