import Glibc
public import HTTPTypes
public import Logging
import Synchronization

/// Keeps the cookies that servers set, and gives them back to whom they belong (RFC 6265).
///
/// A session has one when its ``SessionConfiguration/cookieStore`` names it; several sessions may share one. Cookies are
/// looked up for every hop of a request anew, so none follows a redirect to where it does not belong, and taken from each
/// response once its head is whole, whatever becomes of its body. A request with a `Cookie` field of its own, or of its
/// session, is sent with that one alone.
///
/// A name, its value and its attributes follow RFC 6265 with the stricter rules of browsers: see ``add(_:from:)``. Any
/// thread may use a store.
public final class CookieStore: Sendable {
    private struct State {
        var jar = CookieJar()
        var isChanged = false
        var isScheduled = false
    }

    /// The file the cookies are kept in; nil when they are in memory alone.
    public let file: String?

    private let logger: Logger?
    private let now: @Sendable () -> Int64
    private let state: Mutex<State>
    /// Held while the file is written, so that an older state never replaces a newer one.
    private let writing = Mutex(())

    private static let kind = "cookies1"
    private static let mostFileBytes = 64 << 20
    private static let writeDelay = Duration.seconds(1)

    /// Makes an empty store in memory; nothing is written to disk.
    public convenience init() { self.init(file: nil, logger: nil, now: wallClock) }

    /// Opens the cookies in a file, or begins with none where there is no file; blocks while it is read.
    ///
    /// Cookies that end with the program are not written. The others are written about a second after a change, when a
    /// session that uses the store ends, and by ``flush()``: as a whole, to a file of mode 0600 that replaces the old one.
    /// A file that is damaged is renamed to end in `.damaged`, and the store begins empty; one that cannot be read is
    /// left alone, and the store keeps its cookies in memory. Both are told to the logger as warnings. Two programs may
    /// not use one file at the same time: the one that writes last wins.
    ///
    /// - Parameters:
    ///   - file: The path; its folder must exist.
    ///   - logger: Where trouble with the file is told; no cookie is.
    public convenience init(file: String, logger: Logger? = nil) {
        self.init(file: file, logger: logger, now: wallClock)
    }

    init(file: String?, logger: Logger?, now: @escaping @Sendable () -> Int64) {
        self.logger = logger
        self.now = now
        var jar = CookieJar()
        var usable = file
        if let file {
            switch SealedFile.read(file, kind: Self.kind, limit: Self.mostFileBytes) {
            case .missing: break
            case .whole(let bytes):
                do throws(RecordReader.Damage) { jar = try CookieJar(bytes, at: now()) } catch {
                    Self.setAside(file, logger)
                }
            case .damaged: Self.setAside(file, logger)
            case .unreadable(let code):
                usable = nil
                logger?.warning("\(file) cannot be read, cookies are kept in memory: \(systemMessage(code))")
            }
        }
        self.file = usable
        state = Mutex(State(jar: jar))
    }

    deinit { flush() }

    /// All cookies, the earliest set first.
    public var cookies: [Cookie] { state.withLock { $0.jar.cookies(at: now()) } }

    /// The cookies a request would be sent with, in the order they are sent in; none for an address that cannot be used.
    public func cookies(for request: HTTPRequest) -> [Cookie] {
        guard let url = try? RequestURL(request) else { return [] }
        return state.withLock { $0.jar.cookies(for: url, at: now()) }
    }

    /// Takes a cookie as if a server had answered a request with it.
    ///
    /// Ignored are cookies without a name or with control characters, of more than 4096 bytes, for a domain that the host
    /// does not lie in or that is one label, `Secure` ones over http, and `__Secure-` and `__Host-` without what these
    /// promise. None lasts more than 400 days. There may be 150 for a domain and 3000 in all; then those least recently
    /// used go.
    ///
    /// - Parameters:
    ///   - field: The value of a `Set-Cookie` field.
    ///   - request: The request that it is the answer to.
    /// - Returns: Whether anything changed.
    @discardableResult
    public func add(_ field: String, from request: HTTPRequest) -> Bool {
        guard let url = try? RequestURL(request) else { return false }
        return add([Array(field.utf8)], from: url)
    }

    /// Removes one cookie.
    public func remove(_ cookie: Cookie) { change { $0.remove { $0.hasSamePlace(as: cookie) } } }

    /// Removes all cookies.
    public func removeAll() { change { $0.remove { _ in true } } }

    /// Writes what changed to the file, if there is one; blocks until it is on the disk.
    ///
    /// What cannot be written is told to the logger, and tried again after the next change.
    public func flush() {
        guard let file else { return }
        writing.withLock { _ in
            let content = state.withLock { state -> [UInt8]? in
                guard state.isChanged else { return nil }
                state.isChanged = false
                return state.jar.encoded(at: now())
            }
            guard let content else { return }
            do throws(SealedFile.Failure) {
                try SealedFile.write(content, kind: Self.kind, to: file, isDurable: true)
            } catch {
                logger?.warning("\(error.message)")
                state.withLock { $0.isChanged = true }
            }
        }
    }

    /// Takes the `Set-Cookie` fields of a response.
    func take(_ response: HTTPResponse, from url: RequestURL) {
        let fields = response.headerFields.filter { $0.name == .setCookie }
        if fields.isEmpty { return }
        add(fields.map { field in unsafe field.withUnsafeBytesOfValue { unsafe Array($0) } }, from: url)
    }

    /// The value of the `Cookie` field of a request; nil when there is none to send.
    func field(for url: RequestURL) -> String? {
        let cookies = state.withLock { $0.jar.cookies(for: url, at: now()) }
        if cookies.isEmpty { return nil }
        return cookies.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
    }

    @discardableResult
    private func add(_ fields: [[UInt8]], from url: RequestURL) -> Bool {
        let now = now()
        let cookies = fields.compactMap { Cookie($0, from: url, at: now) }
        if cookies.isEmpty { return false }
        return change { jar in
            cookies.reduce(false) { jar.insert($1, from: url.origin.scheme, at: now) || $0 }
        }
    }

    @discardableResult
    private func change(_ body: (inout CookieJar) -> Bool) -> Bool {
        let (isChanged, mustSchedule) = state.withLock { state in
            guard body(&state.jar) else { return (false, false) }
            state.isChanged = true
            if file == nil || state.isScheduled { return (true, false) }
            state.isScheduled = true
            return (true, true)
        }
        if mustSchedule {
            Task.detached(priority: .utility) { [weak self] in
                try? await Task.sleep(for: Self.writeDelay)
                self?.state.withLock { $0.isScheduled = false }
                self?.flush()
            }
        }
        return isChanged
    }

    private static func setAside(_ file: String, _ logger: Logger?) {
        let aside = file + ".damaged"
        guard unsafe rename(file, aside) == 0 else {
            logger?.warning("\(file) is damaged; beginning without cookies")
            return
        }
        logger?.warning("\(file) is damaged and was renamed to \(aside); beginning without cookies")
    }
}

/// The present in seconds since 1970.
@Sendable func wallClock() -> Int64 { Int64(time(nil)) }
