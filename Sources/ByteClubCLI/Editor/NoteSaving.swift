import ByteClubCore

/// Saves a text that is based on one version of a note, across changes by other members.
struct NoteSaving: Sendable {
    /// How often to repeat a merge when another member saves in the meantime.
    private static let tries = 8

    let remote: any Remote
    /// The note.
    let path: RemotePath
    /// The folder that names are relative to.
    let folder: RemotePath
    /// The author and time of the text.
    let stamp: ConflictStamp

    /// Saves the text: merged with changes of other members, or as a conflict copy beside the note if they overlap.
    ///
    /// `base` is the version that it is based on; nil for a new note.
    ///
    /// - Throws: A ``RemoteError`` when the server has the text nowhere.
    func save(_ text: [UInt8], madeFrom base: Revision?) async throws -> EditResult {
        do {
            return try await put(text, after: base, as: .saved)
        } catch {
            guard error.code == .conflict else { throw error }
        }
        let hash = ContentHasher.hash(text)
        var original: [UInt8]?
        var other: String?
        for _ in 0..<Self.tries {
            guard let theirs = try await NoteContent.fetch(path, remote), let revision = theirs.metadata.rev else {
                break
            }
            other = theirs.metadata.modifier?.displayName
            // An earlier save whose response was lost, or the same text from two members.
            if theirs.bytes == text {
                return EditResult(outcome: .saved, path: theirs.metadata.path, folder: folder, revision: revision)
            }
            if original == nil, let base {
                original = try await NoteContent.fetch(path, revision: base, remote)?.bytes
            }
            guard let original, let merged = TextMerge.merge(base: original, mine: text, theirs: theirs.bytes) else {
                break
            }
            // The server's text includes this one's changes: an earlier merge whose response was lost.
            if merged == theirs.bytes {
                return EditResult(
                    outcome: .merged, path: theirs.metadata.path, folder: folder, revision: revision, other: other)
            }
            do {
                var saved = try await put(merged, after: revision, as: .merged)
                saved.other = other
                return saved
            } catch {
                guard error.code == .conflict else { throw error }
            }
        }
        let copy = try await store(text, hash)
        return EditResult(
            outcome: .conflict(copy: copy.path), path: path, folder: folder, revision: copy.rev, other: other)
    }

    private func put(
        _ text: [UInt8], after base: Revision?, as outcome: EditResult.Outcome
    ) async throws(RemoteError) -> EditResult {
        let condition = base.map { WriteCondition.parent($0) } ?? .create
        let stored = try await remote.put(
            .bytes(text), at: path, condition: condition, policy: .fail, progress: nil)
        return EditResult(outcome: outcome, path: stored.path, folder: folder, revision: stored.rev)
    }

    /// Stores a conflict copy once, even when it is repeated.
    private func store(_ text: [UInt8], _ hash: ContentHash) async throws -> Metadata {
        for number in 1...Self.mostCopies {
            let copy = try ConflictName.path(for: path, stamp, number: number)
            do {
                return try await remote.put(.bytes(text), at: copy, condition: .create, policy: .fail, progress: nil)
            } catch {
                guard error.code == .conflict else { throw error }
                let current = try await remote.metadata(at: copy)
                if !current.isDeleted, current.contentHash == hash { return current }
            }
        }
        throw Failure(.tryAgain, "'\(path.name)' has \(Self.mostCopies) conflict copies; resolve some of them first")
    }

    /// The most copies of a note within a minute.
    private static let mostCopies = 50
}
