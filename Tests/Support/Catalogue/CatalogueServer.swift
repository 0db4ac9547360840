import Glibc
import Synchronization

/// An HTTP server like those of the iTunes Search API and of podcasts, with real audio, that fails on demand.
///
/// `GET` and `HEAD` of `/search?term=&media=&entity=&limit=`, `/lookup?id=`, each song's and episode's audio with
/// `Range`, `If-Range` and `If-None-Match`, and each podcast's feed. A thread for each connection, which lives until
/// ``stop()`` where an answer is held.
public final class CatalogueServer: Sendable {
    /// A request and what was answered.
    public struct Request: Sendable {
        /// `GET` or `HEAD`.
        public var method: String
        /// The path without the query.
        public var path: String
        /// The query, decoded.
        public var parameters: [String: String]
        /// `Range`, or nil.
        public var range: String?
        /// `If-Range`, or nil.
        public var ifRange: String?
        /// The answer's status; 0 before there is one.
        public var status = 0
        /// How many bytes of the body the system took so far.
        public var bytesSent = 0
    }

    private struct State {
        var catalogue: Catalogue
        var files: [String: CatalogueFile] = [:]
        var faults: [String: CatalogueFaults] = [:]
        var requests: [Request] = []
        var connections: Set<Int32> = []
        var isDown = false
        var isStopped = false
    }

    private let listener: LoopbackListener
    private let state: Mutex<State>
    private let holding = Changed()

    /// Starts a server on a free port of loopback.
    ///
    /// - Parameter catalogue: What it offers.
    /// - Throws: ``LoopbackListener/Unavailable``.
    public init(_ catalogue: Catalogue = .sample) throws {
        state = Mutex(State(catalogue: catalogue))
        for song in catalogue.songs { state.withLock { $0.files[song.path] = Self.audio(song.audio) } }
        listener = try LoopbackListener()
        addEpisodes()
        listener.start { [weak self] connection in
            if let self { serve(connection) } else { close(connection) }
        }
    }

    deinit { listener.stop() }

    /// Its address, without a path.
    public var url: String { "http://127.0.0.1:\(listener.port)" }

    /// What was asked so far, in the order of the answers' beginnings.
    public var requests: [Request] { state.withLock { $0.requests } }

    /// The requests for a path.
    public func requests(for path: String) -> [Request] { requests.filter { $0.path == path } }

    /// How many bytes of bodies were sent for a path, over all requests: what was downloaded twice counts twice.
    public func bytesSent(for path: String) -> Int { requests(for: path).reduce(0) { $0 + $1.bytesSent } }

    /// The file that is at a path now; nil when there is none.
    public func file(_ path: String) -> CatalogueFile? { state.withLock { $0.files[path] } }

    /// Changes what the server does about a path, also for answers under way where that is possible: a rate, and a body
    /// that is held.
    public func change(_ path: String, _ change: (inout CatalogueFaults) -> Void) {
        state.withLock { change(&$0.faults[path, default: CatalogueFaults()]) }
        holding.tell()
    }

    /// Puts another version of a file, with another entity tag, in its place.
    public func replace(_ path: String, by bytes: [UInt8]) {
        state.withLock { state in
            let version = (state.files[path]?.version ?? 0) + 1
            state.files[path] = CatalogueFile(bytes, type: "audio/x-wav", version: version)
        }
    }

    /// Adds an episode to a podcast's feed.
    public func publish(_ episode: Catalogue.Episode, in podcast: Int) {
        state.withLock { state in
            for index in state.catalogue.podcasts.indices where state.catalogue.podcasts[index].id == podcast {
                state.catalogue.podcasts[index].episodes.append(episode)
            }
        }
        addEpisodes()
    }

    /// Closes all connections, and each new one without an answer, until it is false again.
    public func setDown(_ isDown: Bool) {
        state.withLock { state in
            state.isDown = isDown
            if isDown { for descriptor in state.connections { shutdown(descriptor, Int32(SHUT_RDWR)) } }
        }
        holding.tell()
    }

    /// Ends the server and all connections.
    public func stop() {
        listener.stop()
        state.withLock { $0.isStopped = true }
        setDown(true)
    }

    private static func audio(_ bytes: [UInt8]) -> CatalogueFile { CatalogueFile(bytes, type: "audio/x-wav") }

    private func addEpisodes() {
        state.withLock { state in
            for episode in state.catalogue.podcasts.flatMap(\.episodes) where state.files[episode.path] == nil {
                state.files[episode.path] = Self.audio(episode.audio)
            }
        }
    }

    private func serve(_ descriptor: Int32) {
        let isOpen = state.withLock { state in
            if !state.isDown { state.connections.insert(descriptor) }
            return !state.isDown
        }
        let connection = RawConnection(accepted: descriptor, timeout: 120)
        guard isOpen else { return connection.reset() }
        // Forgotten before it is closed: its number may be another's then.
        defer { state.withLock { _ = $0.connections.remove(descriptor) } }
        var input: [UInt8] = []
        while true {
            while RawMessage.headEnd(input) == nil {
                let more = connection.receive()
                if more.isEmpty || input.count > 1 << 16 { return }
                input += more
            }
            // No request that is answered has a body.
            guard let end = RawMessage.headEnd(input), let request = RawMessage(Array(input[..<end])) else { return }
            input.removeFirst(end)
            guard answer(request, on: connection), request["Connection"]?.lowercased() != "close" else { return }
        }
    }

    /// Answers; false when the connection is to be closed.
    private func answer(_ message: RawMessage, on connection: borrowing RawConnection) -> Bool {
        let target = message.target.split(separator: "?", maxSplits: 1).map(String.init)
        let path = target.first ?? "/"
        let method = message.start.split(separator: " ").first.map(String.init) ?? ""
        let request = Request(
            method: method, path: path, parameters: target.count > 1 ? Query.parse(target[1]) : [:],
            range: message["Range"], ifRange: message["If-Range"])
        let (number, faults) = state.withLock { state in
            state.requests.append(request)
            return (state.requests.count - 1, state.faults[path, default: CatalogueFaults()].next())
        }
        guard method == "GET" || method == "HEAD" else {
            return send(number, CatalogueAnswer(405, ["Allow: GET, HEAD"]), faults, on: connection)
        }
        if let status = faults.status {
            let fields = faults.retryAfter.map { ["Retry-After: \($0)"] } ?? []
            return send(number, CatalogueAnswer(status, fields), faults, on: connection)
        }
        let answer = usualAnswer(request, message, faults)
        return send(number, method == "HEAD" ? answer.withoutBody : answer, faults, on: connection)
    }

    private func usualAnswer(
        _ request: Request, _ message: RawMessage, _ faults: CatalogueFaults
    ) -> CatalogueAnswer {
        let (catalogue, file) = state.withLock { ($0.catalogue, $0.files[request.path]) }
        switch request.path {
        case "/search":
            let media = request.parameters["media"] ?? "all"
            guard ["all", "music", "podcast"].contains(media) else {
                return CatalogueAnswer(400, body: #"{"errorMessage":"Invalid value(s) for key(s): [mediaType]"}"#)
            }
            return CatalogueAnswer(200, body: catalogue.search(request.parameters, origin: url))
        case "/lookup": return CatalogueAnswer(200, body: catalogue.lookup(request.parameters, origin: url))
        default: break
        }
        if let podcast = catalogue.podcasts.first(where: { $0.path == request.path }) {
            return CatalogueAnswer(
                CatalogueFile(
                    Array(catalogue.feed(podcast, origin: url).utf8), type: "application/rss+xml",
                    version: podcast.episodes.count), message, servesRanges: false)
        }
        guard let file else { return CatalogueAnswer(404, body: "") }
        return CatalogueAnswer(file, message, servesRanges: faults.servesRanges)
    }

    /// Sends an answer as the faults say; false when the connection is to be closed.
    private func send(
        _ number: Int, _ answer: CatalogueAnswer, _ faults: CatalogueFaults, on connection: borrowing RawConnection
    ) -> Bool {
        state.withLock { $0.requests[number].status = answer.status }
        guard connection.send(answer.head) else { return false }
        let path = state.withLock { $0.requests[number].path }
        let end = min(answer.body.count, faults.cutsAfter ?? .max)
        var sent = 0
        while sent < end {
            let room = holding.wait { () -> Int? in
                state.withLock { state in
                    if state.isDown || state.isStopped { return 0 }
                    let hold = state.faults[path]?.holdsAfter
                    return hold.map { $0 - sent > 0 ? $0 - sent : nil } ?? .max
                }
            }
            guard room > 0 else { return false }
            let rate = state.withLock { $0.faults[path]?.rate }
            let count = min(end - sent, room, rate.map { max($0 / 20, 1) } ?? 16 << 10)
            guard connection.send(Array(answer.body[sent..<(sent + count)])) else { return false }
            sent += count
            state.withLock { $0.requests[number].bytesSent = sent }
            if let rate, sent < end { usleep(UInt32(min(count * 1_000_000 / max(rate, 1), 1_000_000))) }
        }
        guard end == answer.body.count else {
            connection.reset()
            return false
        }
        return true
    }
}
