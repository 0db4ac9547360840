import ByteClubCore
import Glibc

/// One edit of a note: fetch, edit, save against the version that was opened.
///
/// From the moment the editor starts until the server has acknowledged the text, the text is in a draft on disk.
struct NoteEditing: Sendable {
    /// What to do about the draft of an earlier edit.
    enum Start: Hashable, Sendable {
        /// There should be none.
        case fresh
        /// Go on with it.
        case recover
        /// Throw it away.
        case discard
    }

    let context: Context
    let login: Login
    let path: RemotePath

    private var draft: Draft { Draft(of: path, on: login.server, in: context.directories.drafts) }

    /// Does the edit.
    func run(_ start: Start) async throws -> EditResult {
        let draft = draft
        let lock = try draft.lock()
        defer { draft.unlock(lock) }
        var origin = try draft.origin()
        if let left = origin {
            let isUntouched = ContentHasher.hash(try draft.text()) == left.hash ?? ContentHasher.hash([])
            switch start {
            case .recover: break
            case .fresh where !isUntouched:
                throw Failure(
                    .tryAgain,
                    "an earlier edit of '\(path.name)' was not saved; its text is in '\(draft.file)'; go on with "
                        + "--recover or throw it away with --discard")
            case .fresh, .discard:
                draft.remove()
                origin = nil
            }
        } else if start == .recover {
            throw Failure(.noInput, "no earlier edit of '\(path.name)' was left on this machine")
        }
        let opened = try await origin == nil ? open(draft) : origin
        guard let opened else { throw Failure(.inputOutput, "the draft '\(draft.file)' is gone") }
        switch try await edit(draft, opened) {
        case .unchanged:
            draft.remove()
            return EditResult(outcome: .unchanged, path: opened.path, revision: opened.revision)
        case .emptied:
            draft.remove()
            throw Failure(
                .badData,
                "the text is empty and was not saved; use 'byteclub notes rm \(ShellWord.quoted(path.name))' to remove "
                    + "the note")
        case .failed(let code):
            let failure = Failure(code == 127 ? .configuration : .tryAgain, failure(of: code))
            guard ContentHasher.hash(try draft.text()) != opened.hash ?? ContentHasher.hash([]) else {
                draft.remove()
                throw failure
            }
            throw kept(draft, failure)
        case .save:
            do {
                try draft.sync()
                let text = try draft.text()
                let result = try await context.withRemote(login) { try await save(text, opened, $0) }
                draft.remove()
                return result
            } catch {
                throw kept(draft, Failure(error))
            }
        }
    }

    /// Fetches the note and starts a draft of it.
    private func open(_ draft: Draft) async throws -> Draft.Origin {
        let path = path
        let note = try await context.withRemote(login) { try await NoteContent.fetch(path, $0) }
        let origin = Draft.Origin(
            server: login.server.origin, path: note?.metadata.path ?? path, revision: note?.metadata.rev,
            hash: note.map { ContentHasher.hash($0.bytes) })
        try draft.begin(note?.bytes ?? [], origin: origin)
        return origin
    }

    /// Runs the editor and decides what its end means.
    private func edit(_ draft: Draft, _ origin: Draft.Origin) async throws -> EditorDecision {
        let before = ContentHasher.hash(try draft.text())
        let start = context.uptime()
        let code = try await BlockingWork.run { [context] in
            try context.editor.run(Editor.command(environment: context.environment), draft.file)
        }
        let after = try draft.text()
        if code == 0, ContentHasher.hash(after) == before, context.uptime() - start < .milliseconds(100) {
            context.note("the editor ended at once; one with a window of its own needs an option such as --wait")
        }
        return EditorDecision(base: origin.hash, after: after, exitCode: code)
    }

    /// Stores the text; when somebody saved meanwhile, stores it beside the note.
    private func save(_ text: [UInt8], _ origin: Draft.Origin, _ remote: any Remote) async throws -> EditResult {
        let condition = origin.revision.map { WriteCondition.parent($0) } ?? .create
        do {
            let stored = try await remote.put(
                .bytes(text), at: origin.path, condition: condition, policy: .fail, progress: nil)
            return EditResult(outcome: .saved, path: stored.path, revision: stored.rev)
        } catch {
            guard error.code == .conflict else { throw error }
            let hash = ContentHasher.hash(text)
            // A save whose answer was lost, or the same text from two people.
            let current = try? await remote.metadata(at: origin.path)
            if let current, !current.isDeleted, current.contentHash == hash {
                return EditResult(outcome: .saved, path: current.path, revision: current.rev)
            }
            let copy = try ConflictName.path(for: origin.path, loser: hash)
            let stored = try await store(text, hash, at: copy, remote)
            return EditResult(outcome: .conflict(copy: stored.path), path: origin.path, revision: stored.rev)
        }
    }

    /// Stores a conflict copy once, also when it is tried again.
    private func store(
        _ text: [UInt8], _ hash: ContentHash, at copy: RemotePath, _ remote: any Remote
    ) async throws -> Metadata {
        do {
            return try await remote.put(.bytes(text), at: copy, condition: .create, policy: .fail, progress: nil)
        } catch {
            guard error.code == .conflict else { throw error }
            let current = try await remote.metadata(at: copy)
            if !current.isDeleted, current.contentHash == hash { return current }
            return try await remote.put(.bytes(text), at: copy, condition: .create, policy: .rename, progress: nil)
        }
    }

    private func failure(of code: Int32) -> String {
        let command = Editor.command(environment: context.environment)
        if code == 127 { return "the editor '\(command)' was not found; set EDITOR" }
        return "the editor '\(command)' failed with code \(code), so nothing was saved"
    }

    /// A failure that also says where the text is.
    private func kept(_ draft: Draft, _ failure: Failure) -> Failure {
        Failure(
            failure.status,
            failure.message + "; your text is kept in '\(draft.file)'; go on with 'byteclub notes edit "
                + "\(ShellWord.quoted(path.name)) --recover'")
    }
}
