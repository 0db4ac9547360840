import HTTPTypes

/// Something that the server answers: where it is in the URL, who may ask for it, what it may cost, and what answers.
struct Endpoint: Sendable {
    /// What of the URL comes after an endpoint's name, in components.
    enum Tail: Sendable {
        /// Nothing.
        case none
        /// Exactly one.
        case item
        /// One or none.
        case optionalItem
        /// Any number: as a rule a root and a path.
        case path

        /// Whether so many components may come.
        func accepts(_ count: Int) -> Bool {
            switch self {
            case .none: count == 0
            case .item: count == 1
            case .optionalItem: count <= 1
            case .path: true
            }
        }
    }

    /// Who is let in, and what answers them then.
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
    /// What names it in the URL, after the protocol's `/1/` or, when it begins with a slash, alone; and in the metrics.
    let name: String
    /// What names it besides, in the same way.
    let aliases: [String]
    /// What may come after the name.
    let tail: Tail
    /// Whether what comes after the name is a secret, which no log may show.
    let hidesTail: Bool
    /// What a request may cost before it is served.
    let cost: RequestCost
    /// Whether the handler counts who has no account; else each request for an endpoint that is for everybody counts.
    let countsItself: Bool
    /// What answers.
    let handler: Handler

    private init(
        _ methods: [HTTPRequest.Method], _ name: String, aliases: [String], tail: Tail = .none, hidesTail: Bool = false,
        cost: RequestCost = RequestCost(), countsItself: Bool = false, handler: Handler
    ) {
        self.methods = methods
        self.name = name
        self.aliases = aliases
        self.tail = tail
        self.hidesTail = hidesTail
        self.cost = cost
        self.countsItself = countsItself
        self.handler = handler
    }

    /// Who may ask: members of this role or above it; nil for everybody.
    var role: Role? {
        if case .member(let role, _) = handler { role } else { nil }
    }

    /// Whether it is a page for people.
    var isPage: Bool {
        if case .page = handler { true } else { false }
    }

    /// Where it is in the URL: the components before the tail, with slashes between them.
    var addresses: [String] {
        ([name] + aliases).map { $0.hasPrefix("/") ? String($0.dropFirst()) : "1/" + $0 }
    }

    /// What a log shows in place of the path; nil when the path holds no secret.
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
            methods, name, aliases: aliases, tail: tail, cost: RequestCost(body: body, reading: reading),
            handler: .member(role, handler))
    }

    /// Creates an endpoint for everybody.
    init(
        _ methods: [HTTPRequest.Method], _ name: String, or aliases: String..., tail: Tail = .none,
        hidesTail: Bool = false, reading: RequestCost.Reading = .brief, countsItself: Bool = false,
        handler: @escaping @Sendable (ClubAPI) -> @Sendable (RoutedRequest) async throws -> Response
    ) {
        self.init(
            methods, name, aliases: aliases, tail: tail, hidesTail: hidesTail, cost: RequestCost(reading: reading),
            countsItself: countsItself, handler: .anyone(handler))
    }

    /// Creates a page for everybody.
    init(
        page method: HTTPRequest.Method, _ name: String, tail: Tail = .none, hidesTail: Bool = false,
        handler: @escaping @Sendable (WebSite) -> @Sendable (Visit) async throws -> Response
    ) {
        self.init([method], name, aliases: [], tail: tail, hidesTail: hidesTail, handler: .page(handler))
    }

    /// Creates a page for members who are signed in; others are asked to sign in.
    init(
        memberPage method: HTTPRequest.Method, _ name: String, or aliases: String..., tail: Tail = .none,
        body: RequestCost.Body = .form,
        handler: @escaping @Sendable (WebSite) -> @Sendable (Visit, Member) async throws -> Response
    ) {
        self.init(
            [method], name, aliases: aliases, tail: tail, cost: RequestCost(body: body),
            handler: .page { site in
                { visit in
                    guard let member = visit.member else { return site.redirectToSignIn(visit) }
                    return try await handler(site)(visit, member)
                }
            })
    }
}
