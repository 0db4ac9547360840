import HTTPTypes

/// What a URL names: an operation of the protocol, or a page for people.
enum Route: Hashable, Sendable {
    /// An operation, for programs.
    case operation(Operation)
    /// A page, for people in a browser.
    case page(Page)

    /// Finds the route that a URL's components name, and the components after it.
    static func find(_ components: [String]) -> (route: Route, rest: ArraySlice<String>)? {
        if let (operation, rest) = Operation.find(components) { return (.operation(operation), rest) }
        return Page.find(components).map { (.page($0.page), $0.rest) }
    }

    /// The route's name, for those who count.
    var name: String {
        switch self {
        case .operation(let operation): operation.rawValue
        case .page(let page): "/" + page.rawValue
        }
    }

    /// The methods that are accepted.
    var methods: [HTTPRequest.Method] {
        switch self {
        case .operation(let operation): operation.methods
        case .page(let page): page.methods
        }
    }

    /// What a log shows in place of the path; nil when the path holds no secret.
    var loggablePath: String? {
        switch self {
        case .operation(let operation): operation.loggablePath
        case .page(let page): page == .invitation ? "/invite/_" : nil
        }
    }
}
