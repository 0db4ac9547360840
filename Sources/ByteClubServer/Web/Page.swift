import HTTPTypes

/// The pages for people, by what their URLs begin with.
enum Page: String, CaseIterable, Sendable {
    case account = ""
    case style = "style.css"
    case signIn = "login"
    case signOut = "logout"
    case password
    case revoke
    case takeBack = "links/revoke"
    case members
    case invitation = "invite"
    case approve = "oauth2/authorize"
    case approveOAuth1 = "oauth/authorize"

    /// Finds the page that a URL's components name, and the components after it.
    static func find(_ components: [String]) -> (page: Page, rest: ArraySlice<String>)? {
        if components.first == invitation.rawValue, components.count == 2 { return (.invitation, components[1...]) }
        let path = (components.first == "1" ? components.dropFirst() : components[...]).joined(separator: "/")
        guard let page = Page(rawValue: path), page != .invitation else { return nil }
        // The pages of a sign-in have the protocol's version before them, the others never.
        if components.first == "1", page != .approve, page != .approveOAuth1 { return nil }
        return (page, [])
    }

    /// The methods that are accepted.
    var methods: [HTTPRequest.Method] {
        switch self {
        case .account, .style: [.get]
        case .signOut, .revoke, .takeBack: [.post]
        case .signIn, .password, .members, .invitation, .approve, .approveOAuth1: [.get, .post]
        }
    }
}
