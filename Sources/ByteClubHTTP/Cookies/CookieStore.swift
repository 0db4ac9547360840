import Glibc
public import HTTPTypes
public import Logging
import Synchronization

/// Stores cookies and sends them with matching requests (RFC 6265).
///
/// A session uses a store if its ``SessionConfiguration/cookieStore`` is set; several sessions may share one. Cookies
/// are looked up for each hop of a request, so a redirect never carries them to another site, and stored as soon as the
/// head of a response is complete. If the request or its session has a `Cookie` field, only that field is sent.
///
/// Names, values and attributes follow RFC 6265 with the stricter rules of browsers; see ``add(_:from:)``. A store may
/// be used from any thread.
public final class CookieStore: Sendable {
    private struct State {
        var jar = CookieJar()
        var isChanged = false
        var isScheduled = false
    }

    /// The file of the store; nil for a store in memory.
    public let file: String?

    private let logger: Logger?
    private let now: @Sendable () -> Int64
    private let suffixes: PublicSuffixes?
    private let state: Mutex<State>
    /// Held while the file is written, so that an older state never replaces a newer one.
    private let writing = Mutex(())

    private static let kind = "cookies1"
    private static let mostFileBytes = 64 << 20
    private static let writeDelay = Duration.seconds(1)

    /// Creates an empty store in memory; nothing is written to disk.
    public convenience init() { self.init(file: nil, logger: nil, now: wallClock) }

    /// Opens the store in a file, empty if the file does not exist; blocks while reading.
    ///
    /// Session cookies are not written. The others are written about a second after a change, when a session that uses
    /// the store ends, and by ``flush()``, to a file of mode 0600 that is replaced as a whole. A damaged file is
    /// renamed to end in `.damaged`, and the store starts empty. An unreadable file is not changed, and the store keeps
    /// its cookies in memory. In both cases the logger gets a warning. Two programs must not use one file at the same
    /// time: the last writer wins.
    ///
    /// - Parameters:
    ///   - file: The path; its folder must exist.
    ///   - logger: Gets warnings about the file; cookies are never logged.
    public convenience init(file: String, logger: Logger? = nil) {
        self.init(file: file, logger: logger, now: wallClock)
    }

    init(
        file: String?, logger: Logger?, now: @escaping @Sendable () -> Int64,
        suffixes: PublicSuffixes? = PublicSuffixes.system
    ) {
        self.logger = logger
        self.now = now
        self.suffixes = suffixes
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
        // Cookies that were kept before there was a list.
        if let suffixes { _ = jar.remove { !$0.isHostOnly && suffixes.contains($0.domain) } }
        self.file = usable
        state = Mutex(State(jar: jar))
    }

    deinit { flush() }

    /// All cookies in the order they were set.
    public var cookies: [Cookie] { state.withLock { $0.jar.cookies(at: now()) } }

    /// The cookies for a request in sending order; none if its address is invalid.
    public func cookies(for request: HTTPRequest) -> [Cookie] {
        guard let url = try? RequestURL(request) else { return [] }
        return state.withLock { $0.jar.cookies(for: url, at: now()) }
    }

    /// Adds a cookie as if a server had sent it in response to a request.
    ///
    /// Ignored cookies: without a name, with control characters, longer than 4096 bytes, for a domain that does not
    /// contain the host, has only one label or is a public suffix such as `co.uk`, `Secure` over http, and `__Secure-`
    /// or `__Host-` names without the required attributes. Public suffixes are those of
    /// `/usr/share/publicsuffix/public_suffix_list.dafsa`, if the system has that file. No cookie lasts longer than 400
    /// days. At most 150 cookies per domain and 3000 in all are kept; beyond that the least recently used are removed.
    ///
    /// - Parameters:
    ///   - field: The value of a `Set-Cookie` field.
    ///   - request: The request whose response sets the cookie.
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

    /// Writes pending changes to the file, if there is one; blocks until they are on disk.
    ///
    /// If that fails, the logger gets a warning, and the next change tries again.
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

    /// Stores the cookies of a response.
    func take(_ response: HTTPResponse, from url: RequestURL) {
        let fields = response.headerFields.filter { $0.name == .setCookie }
        if fields.isEmpty { return }
        add(fields.map { field in unsafe field.withUnsafeBytesOfValue { unsafe Array($0) } }, from: url)
    }

    /// The value of a request's `Cookie` field; nil if no cookie matches.
    func field(for url: RequestURL) -> String? {
        let cookies = state.withLock { $0.jar.cookies(for: url, at: now()) }
        if cookies.isEmpty { return nil }
        return cookies.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
    }

    @discardableResult
    private func add(_ fields: [[UInt8]], from url: RequestURL) -> Bool {
        let now = now()
        let cookies = fields.compactMap { Cookie($0, from: url, at: now, suffixes: suffixes) }
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
        let change = unsafe rename(file, aside) == 0 ? " and was renamed to \(aside)" : ""
        logger?.warning("\(file) is damaged\(change); beginning without cookies")
    }
}

/// The current time in seconds since 1970.
@Sendable func wallClock() -> Int64 { Int64(time(nil)) }
