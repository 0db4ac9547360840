import HTTPTypes

/// An operation of the server: its address, the role that it needs, its cost, and its handler.
struct Endpoint: Sendable {
    /// How many components of the URL may follow an endpoint's name.
    struct Tail: Hashable, Sendable {
        static let none = Tail(counts: 0...0)
        static let item = Tail(counts: 1...1)
        static let optionalItem = Tail(counts: 0...1)
        /// Any number: as a rule a root and a path.
        static let path = Tail(counts: 0...Int.max)

        fileprivate let counts: ClosedRange<Int>

        /// Whether so many components may come.
        func accepts(_ count: Int) -> Bool { counts.contains(count) }
    }

    /// The role that a request needs, and the function that answers it.
    enum Handler: Sendable {
        /// Members of a role or above it.
        case member(Role, @Sendable (ClubAPI) -> @Sendable (MemberRequest) async throws -> Response)
        /// Everybody, without credentials.
        case anyone(@Sendable (ClubAPI) -> @Sendable (RoutedRequest) async throws -> Response)
        /// People in a browser.
        case page(@Sendable (WebSite) -> @Sendable (Visit) async throws -> Response)
    }

    /// The methods that are accepted.
    let methods: [HTTPRequest.Method]
    /// The name in the metrics and in the URL: after the protocol's `/1/`, or alone when it begins with a slash.
    let name: String
    /// Further names in the URL.
    let aliases: [String]
    /// The components that may follow the name.
    var tail = Tail.none
    /// Whether the components after the name are a secret, which no log may show.
    var hidesTail = false
    /// The resources that a request may need before it is served.
    var cost = RequestCost()
    /// Whether the handler counts requests without an account; otherwise each request for a public endpoint counts.
    var countsItself = false
    /// The function that answers.
    let handler: Handler

    /// Where it is in the URL: the components before the tail, with slashes between them.
    var addresses: [String] {
        ([name] + aliases).map { $0.hasPrefix("/") ? String($0.dropFirst()) : "1/" + $0 }
    }

    /// The path for the log; nil when the path holds no secret.
    var loggablePath: String? { hidesTail ? "/" + addresses[0] + "/_" : nil }
}

extension Endpoint {
    /// Creates an endpoint for members of a role or above it.
    init(
        _ methods: [HTTPRequest.Method], _ name: String, or aliases: String..., tail: Tail = .none, role: Role,
        body: RequestCost.Body = .form, reading: RequestCost.Reading = .brief,
        handler: @escaping @Sendable (ClubAPI) -> @Sendable (MemberRequest) async throws -> Response
    ) {
        self.init(
            methods: methods, name: name, aliases: aliases, tail: tail, cost: RequestCost(body: body, reading: reading),
            handler: .member(role, handler))
    }

    /// Creates an endpoint for everybody.
    init(
        _ methods: [HTTPRequest.Method], _ name: String, or aliases: String..., tail: Tail = .none,
        hidesTail: Bool = false, reading: RequestCost.Reading = .brief, countsItself: Bool = false,
        handler: @escaping @Sendable (ClubAPI) -> @Sendable (RoutedRequest) async throws -> Response
    ) {
        self.init(
            methods: methods, name: name, aliases: aliases, tail: tail, hidesTail: hidesTail,
            cost: RequestCost(reading: reading), countsItself: countsItself, handler: .anyone(handler))
    }

    /// Creates a page for everybody.
    init(
        page method: HTTPRequest.Method, _ name: String, tail: Tail = .none, hidesTail: Bool = false,
        handler: @escaping @Sendable (WebSite) -> @Sendable (Visit) async throws -> Response
    ) {
        self.init(
            methods: [method], name: name, aliases: [], tail: tail, hidesTail: hidesTail, handler: .page(handler))
    }

    /// Creates a page for signed-in members; other visitors are sent to the sign-in page.
    init(
        memberPage method: HTTPRequest.Method, _ name: String, or aliases: String..., tail: Tail = .none,
        body: RequestCost.Body = .form,
        handler: @escaping @Sendable (WebSite) -> @Sendable (Visit, Member) async throws -> Response
    ) {
        self.init(
            methods: [method], name: name, aliases: aliases, tail: tail, cost: RequestCost(body: body),
            handler: .page { site in
                { visit in
                    guard let member = visit.member else { return site.redirectToSignIn(visit) }
                    return try await handler(site)(visit, member)
                }
            })
    }
}

/// Finds the endpoints that a URL names.
struct Router: Sendable {
    /// The endpoints at the path of a URL.
    struct Match: Sendable {
        /// The endpoints, each with methods of its own.
        let endpoints: [Endpoint]
        /// The components after the name.
        let tail: ArraySlice<String>

        /// The methods that are accepted.
        var methods: [HTTPRequest.Method] { endpoints.flatMap(\.methods) }

        /// The path for the log; nil when the path holds no secret.
        var loggablePath: String? { endpoints.lazy.compactMap(\.loggablePath).first }

        /// The endpoint for a method; nil when there is none.
        func endpoint(for method: HTTPRequest.Method) -> Endpoint? {
            endpoints.first { $0.methods.contains(method) }
        }
    }

    /// Finds every endpoint of the server.
    static let standard = Router(Endpoint.all)

    private let endpoints: [String: [Endpoint]]
    /// The most components of a name: a URL may have thousands, which need not be joined.
    private let longestName: Int

    /// Indexes endpoints by address; those of one address have the same tail.
    init(_ all: [Endpoint]) {
        let addressed = all.flatMap { endpoint in endpoint.addresses.map { ($0, [endpoint]) } }
        endpoints = Dictionary(addressed) { $0 + $1 }
        longestName = addressed.map { $0.0.split(separator: "/").count }.max() ?? 0
    }

    /// The endpoints at a path, by the longest name that fits; nil when there are none.
    func match(_ components: [String]) -> Match? {
        for count in (0...min(longestName, components.count)).reversed() {
            let tail = components[count...]
            if let found = endpoints[components[..<count].joined(separator: "/")], found[0].tail.accepts(tail.count) {
                return Match(endpoints: found, tail: tail)
            }
        }
        return nil
    }
}
