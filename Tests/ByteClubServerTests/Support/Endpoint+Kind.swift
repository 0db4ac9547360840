import ByteClubCore

@testable import ByteClubServer

extension Endpoint {
    /// Who may ask: members of this role or above it; nil for everybody.
    var role: Role? {
        if case .member(let role, _) = handler { role } else { nil }
    }

    /// Whether it is a page for people.
    var isPage: Bool {
        if case .page = handler { true } else { false }
    }
}
