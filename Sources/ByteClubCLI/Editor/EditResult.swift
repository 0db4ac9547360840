import ByteClubCore

/// What an edit came to.
struct EditResult: CommandResult {
    /// How the edit ended.
    enum Outcome: Hashable, Sendable {
        /// The editor changed nothing.
        case unchanged
        /// Stored under the note's own name.
        case saved
        /// Somebody saved meanwhile, and both changes are stored under the note's own name.
        case merged
        /// Somebody saved the same lines meanwhile: the text is stored beside the note under this name.
        case conflict(copy: RemotePath)
        /// An earlier text was thrown away.
        case discarded
    }

    /// How the edit ended.
    var outcome: Outcome
    /// The note.
    var path: RemotePath
    /// The folder below which it is named.
    var folder: RemotePath
    /// The version in which the text is stored; nil when nothing was.
    var revision: Revision?
    /// Who saved meanwhile; nil when nobody did or the server does not tell.
    var other: String?

    private var name: String { path.name(below: folder) }

    func text(_ style: TextStyle) -> String {
        switch outcome {
        case .unchanged: "no changes"
        case .saved: Failure.line("saved '\(name)'")
        case .merged:
            Failure.line("saved '\(name)', merged with changes by \(other ?? "somebody else")")
        case .conflict(let copy):
            Failure.line(
                "\(other ?? "somebody else") changed the same lines of '\(name)'; your text is in "
                    + "'\(copy.name)' beside it")
        case .discarded: Failure.line("deleted the text of an earlier edit of '\(name)'")
        }
    }

    private enum CodingKeys: String, CodingKey { case outcome, path, copy, rev, other }

    func encode(to encoder: any Encoder) throws {
        var box = encoder.container(keyedBy: CodingKeys.self)
        try box.encode(path, forKey: .path)
        try box.encodeIfPresent(revision, forKey: .rev)
        try box.encodeIfPresent(other, forKey: .other)
        switch outcome {
        case .unchanged: try box.encode("unchanged", forKey: .outcome)
        case .saved: try box.encode("saved", forKey: .outcome)
        case .merged: try box.encode("merged", forKey: .outcome)
        case .discarded: try box.encode("discarded", forKey: .outcome)
        case .conflict(let copy):
            try box.encode("conflict", forKey: .outcome)
            try box.encode(copy, forKey: .copy)
        }
    }
}
