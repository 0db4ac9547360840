import ByteClubCore

/// The outcome of an edit.
struct EditResult: CommandResult {
    /// How the edit ended.
    enum Outcome: Hashable, Sendable {
        /// The editor changed nothing.
        case unchanged
        /// Stored under the note's own name.
        case saved
        /// Another member changed other lines during the edit; the note has both changes.
        case merged
        /// Another member changed the same lines during the edit; the text is stored beside the note under this name.
        case conflict(copy: RemotePath)
        /// An earlier text was thrown away.
        case discarded
    }

    /// How the edit ended.
    var outcome: Outcome
    /// The note.
    var path: RemotePath
    /// The folder that names are relative to.
    var folder: RemotePath
    /// The stored version; nil when nothing was stored.
    var revision: Revision?
    /// The member who saved during the edit; nil if none did, or when the server does not send the name.
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
