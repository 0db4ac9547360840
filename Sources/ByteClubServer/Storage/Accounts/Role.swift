/// What a member may do; each role may do all that those below it may.
enum Role: Int, CaseIterable, Comparable, Sendable {
    /// Read everything, change nothing.
    case viewer
    /// Also change the folder.
    case editor
    /// Also manage members.
    case owner

    /// The role that a word names; nil for any other word.
    init?(word: String) {
        guard let role = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = role
    }

    /// The role's name for people and scripts.
    var word: String {
        switch self {
        case .viewer: "viewer"
        case .editor: "editor"
        case .owner: "owner"
        }
    }

    /// The role's name for sentences, as in `an editor`.
    var phrase: String { self == .viewer ? "a viewer" : "an \(word)" }

    static func < (left: Role, right: Role) -> Bool { left.rawValue < right.rawValue }
}
