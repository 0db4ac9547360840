import ByteClubCore

/// What is to be done after the editor has ended: a pure function of what was there before and after.
enum EditorDecision: Hashable, Sendable {
    /// The text is the one that the note has: nothing to save.
    case unchanged
    /// Nothing is left of the text: not saved, since deleting is what `rm` is for.
    case emptied
    /// The editor failed: the text is kept and not saved.
    case failed(Int32)
    /// Save this text.
    case save

    /// Decides.
    ///
    /// - Parameters:
    ///   - base: The hash of the note's text; nil when there is no note yet.
    ///   - after: The draft's text when the editor ended.
    ///   - exitCode: What the editor ended with.
    init(base: ContentHash?, after: [UInt8], exitCode: Int32) {
        if exitCode != 0 {
            self = .failed(exitCode)
        } else if ContentHasher.hash(after) == base ?? ContentHasher.hash([]) {
            self = .unchanged
        } else if after.allSatisfy({ $0 == 0x20 || (0x09...0x0D).contains($0) }) {
            self = .emptied
        } else {
            self = .save
        }
    }
}
