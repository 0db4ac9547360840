import HTTPTypes
public import Logging
import Synchronization

/// A private cache of responses (RFC 9111).
///
/// A session uses a cache if its ``SessionConfiguration/cache`` is set; several sessions may share one. It serves data
/// tasks with GET: a fresh response is returned without network access, a stale one is revalidated with its `ETag` or
/// `Last-Modified`. ``TaskResult/source`` shows the origin of a response, and ``TaskOptions/cachePolicy`` changes the
/// rules.
///
/// - Stored: whole responses that are not redirects, without `no-store` and `Vary: *`, in as many variants as `Vary`
///   requires. Responses to requests that differ in a field that may hold a secret, such as `Authorization`, `Cookie`
///   or an API key, are separate variants whatever `Vary` lists: that is every field except the ones known to be
///   harmless and ``SessionConfiguration/publicFields``.
/// - Freshness: as `Cache-Control: max-age` or `Expires` define it; otherwise a tenth of the time since
///   `Last-Modified`, at most a day, and none for URLs with a query.
/// - Evicted: the least recently used responses when a limit is exceeded; the URL of a successful PUT, POST, PATCH or
///   DELETE, and URLs of the same origin that its response names. A response larger than an eighth of the larger limit
///   is not stored.
/// - On disk: responses to requests with such a field are kept in memory only. `Set-Cookie` is never stored.
///
/// A cache may be used from any thread.
public final class ResponseCache: Sendable {
    /// The folder of the cache; nil for a cache in memory.
    public var folder: String? { disk?.path }

    private struct State {
        var index: CacheIndex
        var isChanged = false
        var isScheduled = false
    }

    private let disk: CacheFolder?
    private let logger: Logger?
    private let now: @Sendable () -> Int64
    private let state: Mutex<State>
    /// Held while files are written, so that an older state never replaces a newer one.
    private let writing = Mutex(())

    private static let writeDelay = Duration.seconds(1)

    /// Creates an empty cache in memory; nothing is written to disk.
    ///
    /// - Parameter memoryBytes: The maximum size in bytes, heads included: 8 MiB.
    public convenience init(memoryBytes: Int = 8 << 20) {
        self.init(memoryBytes: memoryBytes, folder: nil, diskBytes: 0, logger: nil, now: wallClock)
    }

    /// Opens the cache in a folder; blocks while its index is read.
    ///
    /// The folder is created if it is missing (mode 0700) and must not be used for anything else. Files are not written
    /// on the sessions' threads, but about a second after a change, when a session ends, and by ``flush()``. Each file
    /// is replaced as a whole, so a crash loses only pending changes. A damaged file is a cache miss. If the folder
    /// cannot be used, or another cache uses it, the logger gets a warning and the cache stays in memory.
    ///
    /// - Parameters:
    ///   - folder: The path; the folder above must exist.
    ///   - memoryBytes: The maximum size in memory: 8 MiB.
    ///   - diskBytes: The maximum size on disk: 64 MiB.
    ///   - logger: Gets warnings about the folder.
    public convenience init(
        folder: String, memoryBytes: Int = 8 << 20, diskBytes: Int = 64 << 20, logger: Logger? = nil
    ) {
        self.init(memoryBytes: memoryBytes, folder: folder, diskBytes: diskBytes, logger: logger, now: wallClock)
    }

    init(memoryBytes: Int, folder: String?, diskBytes: Int, logger: Logger?, now: @escaping @Sendable () -> Int64) {
        self.logger = logger
        self.now = now
        var disk: CacheFolder?
        if let folder {
            do throws(SealedFile.Failure) { disk = try CacheFolder(folder) } catch {
                logger?.warning("\(error.message); answers are kept in memory")
            }
        }
        var index = CacheIndex(memoryLimit: memoryBytes, diskLimit: disk == nil ? 0 : diskBytes)
        for (id, length, stored) in disk?.readIndex() ?? [] { index.restore(stored, id: id, length: length) }
        disk?.removeOthers(than: Set(index.entries.keys))
        self.disk = disk
        state = Mutex(State(index: index))
    }

    deinit { flush() }

    /// The number of stored responses.
    public var count: Int { state.withLock { $0.index.entries.count } }

    /// The size of the stored responses in memory and on disk, in bytes.
    public var size: (memory: Int, disk: Int) { state.withLock { ($0.index.memoryBytes, $0.index.diskBytes) } }

    /// Removes all responses.
    public func removeAll() { change { $0.removeAll() } }

    /// Writes pending changes to the folder, if there is one; blocks.
    ///
    /// Responses that cannot be written stay in memory, and the logger gets a warning.
    public func flush() {
        guard let disk else { return }
        writing.withLock { _ in
            let (pending, isChanged) = state.withLock { state in
                defer { state.isChanged = false }
                return (state.index.entries(where: \.isPending), state.isChanged)
            }
            guard isChanged else { return }
            for (id, entry) in pending {
                var problem: SealedFile.Failure?
                do throws(SealedFile.Failure) {
                    try disk.writeBody(id, url: entry.stored.url, bytes: entry.bytes ?? [])
                } catch {
                    problem = error
                }
                state.withLock { $0.index.wasWritten(id, successfully: problem == nil) }
                if let problem { logger?.warning("\(problem.message)") }
            }
            let (entries, garbage) = state.withLock { state in
                (state.index.entries(where: \.isOnDisk), state.index.takeGarbage())
            }
            let ordered = entries.sorted { $0.entry.used < $1.entry.used }
            do throws(SealedFile.Failure) {
                try disk.writeIndex(ordered.map { ($0.id, $0.entry.length, $0.entry.stored) })
            } catch {
                logger?.warning("\(error.message)")
            }
            // After the index, which named them until now.
            for id in garbage { disk.removeBody(id) }
        }
    }

    /// A stored response and its entry.
    struct Found: Sendable {
        let id: UInt64
        var stored: StoredResponse
        let bytes: [UInt8]
        let use: CacheRules.Use
    }

    /// Finds the stored response for a request and how to use it; nil if there is none.
    func find(
        _ url: RequestURL, _ fields: HTTPFields, publicFields: Set<HTTPField.Name> = [], policy: CachePolicy
    ) -> Found? {
        let time = now()
        let chosen = state.withLock { state -> (id: UInt64, entry: CacheIndex.Entry, use: CacheRules.Use)? in
            for id in state.index.candidates(for: url.text) {
                guard let entry = state.index.entries[id],
                    entry.stored.matches(fields, publicFields: publicFields)
                else { continue }
                let use = CacheRules.use(entry.stored, for: fields, policy: policy, at: time)
                if use == .ignore { continue }
                state.index.use(id)
                return (id, entry, use)
            }
            return nil
        }
        guard let (id, entry, use) = chosen else { return nil }
        if let bytes = entry.bytes { return Found(id: id, stored: entry.stored, bytes: bytes, use: use) }
        guard let bytes = disk?.readBody(id, url: entry.stored.url, length: entry.length) else {
            change { $0.remove(id) }
            return nil
        }
        state.withLock { $0.index.promote(id, bytes: bytes) }
        return Found(id: id, stored: entry.stored, bytes: bytes, use: use)
    }

    /// The response as the task receives it, with its age.
    func answer(_ stored: StoredResponse) -> HTTPResponse { stored.answer(at: now()) }

    /// Stores a response if that is allowed; otherwise removes the older one that it replaces.
    func keep(
        _ response: HTTPResponse, bytes: [UInt8], for url: RequestURL, _ fields: HTTPFields,
        publicFields: Set<HTTPField.Name> = [], asked: Int64
    ) {
        let stored = StoredResponse(
            url: url.text, selectors: CacheRules.selectors(of: response, for: fields, publicFields: publicFields),
            response: HTTPResponse(
                status: response.status, headerFields: StoredResponse.storable(response.headerFields)),
            requested: asked, received: now())
        guard CacheRules.mayStore(stored) else {
            // The server has replaced the stored response, unless it failed.
            if response.status.code < 500 { forget(url, fields, publicFields) }
            return
        }
        change { $0.insert(stored, bytes: bytes, maySave: !CacheRules.isSecret(stored)) }
    }

    /// Updates a stored response from a 304; if the 304 is about another representation, removes it and returns nil.
    func freshen(_ found: Found, with response: HTTPResponse, asked: Int64) -> StoredResponse? {
        var stored = found.stored
        guard stored.freshen(with: response, requested: asked, received: now()) else {
            change { $0.remove(found.id) }
            return nil
        }
        change { $0.update(found.id, stored) }
        return stored
    }

    /// Removes responses that an unsafe method may have changed (RFC 9111 section 4.4).
    func invalidate(_ head: RequestHead, _ response: HTTPResponse) {
        guard (200...399).contains(response.status.code) else { return }
        switch head.method {
        case .get, .head, .options, .trace: return
        default: break
        }
        let named = [HTTPField.Name.location, .contentLocation].compactMap { response.headerFields[$0] }
            .compactMap { head.url.resolving($0.utf8) }.filter { $0.origin == head.url.origin }
        change { index in
            for url in [head.url] + named { index.removeAll(for: url.text) }
        }
    }

    /// The current time in seconds since 1970.
    var time: Int64 { now() }

    private func forget(_ url: RequestURL, _ fields: HTTPFields, _ publicFields: Set<HTTPField.Name>) {
        change { index in
            for id in index.candidates(for: url.text)
            where index.entries[id]?.stored.matches(fields, publicFields: publicFields) == true {
                index.remove(id)
            }
        }
    }

    private func change(_ body: (inout CacheIndex) -> Void) {
        let mustSchedule = state.withLock { state in
            body(&state.index)
            state.isChanged = true
            if disk == nil || state.isScheduled { return false }
            state.isScheduled = true
            return true
        }
        guard mustSchedule else { return }
        Task.detached(priority: .utility) { [weak self] in
            try? await Task.sleep(for: Self.writeDelay)
            self?.state.withLock { $0.isScheduled = false }
            self?.flush()
        }
    }
}
