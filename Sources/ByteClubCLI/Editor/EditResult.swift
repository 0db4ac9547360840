import ByteClubCore

/// What an edit came to.
struct EditResult: CommandResult {
    /// How the edit ended.
    enum Outcome: Hashable, Sendable {
        /// The editor changed nothing.
        case unchanged
        /// Stored under the note's own name.
        case saved
        /// Somebody saved meanwhile: the text is stored beside the note under this name.
        case conflict(copy: RemotePath)
    }

    /// How the edit ended.
    var outcome: Outcome
    /// The note.
    var path: RemotePath
    /// The version in which the text is stored; nil when nothing was.
    var revision: Revision?

    func text(_ style: TextStyle) -> String {
        switch outcome {
        case .unchanged: "no changes"
        case .saved: Failure.line("saved '\(path.name)'")
        case .conflict(let copy):
            Failure.line("somebody saved '\(path.name)' meanwhile; your text is in '\(copy.name)' beside it")
        }
    }

    private enum CodingKeys: String, CodingKey { case outcome, path, copy, rev }

    func encode(to encoder: any Encoder) throws {
        var box = encoder.container(keyedBy: CodingKeys.self)
        try box.encode(path, forKey: .path)
        try box.encodeIfPresent(revision, forKey: .rev)
        switch outcome {
        case .unchanged: try box.encode("unchanged", forKey: .outcome)
        case .saved: try box.encode("saved", forKey: .outcome)
        case .conflict(let copy):
            try box.encode("conflict", forKey: .outcome)
            try box.encode(copy, forKey: .copy)
        }
    }
}
