import HTTPTypes
public import Logging
import Synchronization

/// Keeps answers, so that the same question need not be asked again (RFC 9111): the cache of one user.
///
/// A session has one when its ``SessionConfiguration/cache`` names it; several sessions may share one. It is for data
/// tasks with GET: an answer that is still fresh is given without touching the network, a stale one is asked about with
/// its `ETag` or `Last-Modified`. ``TaskResult/source`` says which it was, ``TaskOptions/cachePolicy`` changes the rules.
///
/// - What is kept: whole answers that are not redirects, without `no-store` and `Vary: *`, in the number of variants that
///   `Vary` asks for. Answers to requests that differ in a field that may bear a secret, such as `Authorization`,
///   `Cookie` or an API key, are different, whatever `Vary` says: that is every field but the ones known to bear none
///   and ``SessionConfiguration/publicFields``.
/// - How long one is fresh: as `Cache-Control: max-age` or `Expires` say; otherwise a tenth of the time since
///   `Last-Modified`, at most a day, and not for addresses with a query.
/// - What goes: what was least recently used, when there is too much; an address that a PUT, POST, PATCH or DELETE went
///   to with success, and those of its origin that the answer to that names. An answer larger than an eighth of the
///   larger limit is not kept.
/// - On disk: nothing that was asked for with such a field; that is kept in memory alone. `Set-Cookie` is not kept at all.
///
/// Any thread may use a cache.
public final class ResponseCache: Sendable {
    /// The folder the cache is kept in; nil when it is in memory alone.
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

    /// Makes an empty cache in memory; nothing is written to disk.
    ///
    /// - Parameter memoryBytes: The most bytes it takes, heads included: 8 MiB.
    public convenience init(memoryBytes: Int = 8 << 20) {
        self.init(memoryBytes: memoryBytes, folder: nil, diskBytes: 0, logger: nil, now: wallClock)
    }

    /// Opens the cache in a folder; blocks while its index is read.
    ///
    /// The folder is made if it is missing (mode 0700), and belongs to the cache alone. Files are written off the
    /// sessions' threads, about a second after a change, when a session ends, and by ``flush()``; each replaces another as
    /// a whole, so that a crash costs what was not written yet. Damage is a miss, whatever byte it is in. A folder that
    /// cannot be used, or that another cache uses, is told to the logger as a warning, and the cache is in memory.
    ///
    /// - Parameters:
    ///   - folder: The path; the folder above must exist.
    ///   - memoryBytes: The most bytes it takes in memory: 8 MiB.
    ///   - diskBytes: The most bytes it takes on disk: 64 MiB.
    ///   - logger: Where trouble with the folder is told.
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

    /// How many answers are kept.
    public var count: Int { state.withLock { $0.index.entries.count } }

    /// How many bytes they take, in memory and on disk.
    public var size: (memory: Int, disk: Int) { state.withLock { ($0.index.memoryBytes, $0.index.diskBytes) } }

    /// Forgets every answer.
    public func removeAll() { change { $0.removeAll() } }

    /// Writes what changed to the folder, if there is one; blocks.
    ///
    /// What cannot be written is told to the logger, and kept in memory.
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

    /// A stored answer and its place.
    struct Found: Sendable {
        let id: UInt64
        var stored: StoredResponse
        let bytes: [UInt8]
        let use: CacheRules.Use
    }

    /// The stored answer for a request, with what is to be done with it; nil if there is none to use.
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

    /// The answer as a task gets it.
    func answer(_ stored: StoredResponse) -> HTTPResponse { stored.answer(at: now()) }

    /// Keeps an answer, if that is allowed; one that must not be kept leaves none in its place.
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
            // What was kept before is no answer to this question any more, unless the server failed.
            if response.status.code < 500 { forget(url, fields, publicFields) }
            return
        }
        change { $0.insert(stored, bytes: bytes, maySave: !CacheRules.isSecret(stored)) }
    }

    /// Takes what a 304 says of a stored answer; nil if it speaks of another, which is then forgotten.
    func freshen(_ found: Found, with response: HTTPResponse, asked: Int64) -> StoredResponse? {
        var stored = found.stored
        guard stored.freshen(with: response, requested: asked, received: now()) else {
            change { $0.remove(found.id) }
            return nil
        }
        change { $0.update(found.id, stored) }
        return stored
    }

    /// Forgets what an unsafe method may have changed (RFC 9111 section 4.4).
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

    /// The present, for the times of an answer.
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
