import ByteClubCore
import Glibc

/// One edit of a note: fetch, edit, save against the opened version.
///
/// The text is in a draft on disk from the start of the editor until the server has acknowledged it.
struct NoteEditing: Sendable {
    /// How to treat the draft of an earlier edit.
    enum Start: Hashable, Sendable {
        /// There should be none.
        case fresh
        /// Resume it.
        case recover
        /// Delete it, and stop.
        case discard
    }

    let context: Context
    let login: Login
    let path: RemotePath

    private var name: String { path.name(below: login.notes) }
    private var draft: Draft { Draft(of: path, on: login.server, in: context.directories.drafts) }

    /// Does the edit.
    func run(_ start: Start) async throws -> EditResult {
        let draft = draft
        let lock = try draft.lock()
        defer { withExtendedLifetime(lock) {} }
        var origin = try draft.origin()
        if let left = origin {
            let isUntouched = ContentHasher.hash(try draft.text()) == left.hash ?? ContentHasher.hash([])
            switch start {
            case .recover: break
            case .fresh where !isUntouched:
                throw Failure(
                    .tryAgain,
                    "an earlier edit of '\(name)' was not saved; its text is in '\(draft.file)'; resume with "
                        + "--recover or delete it with --discard")
            case .discard:
                draft.remove()
                return EditResult(outcome: .discarded, path: left.path, folder: login.notes)
            case .fresh:
                draft.remove()
                origin = nil
            }
        } else if start != .fresh {
            throw Failure(.noInput, "no unsaved edit of '\(name)' on this machine")
        }
        let opened = try await origin == nil ? open(draft) : origin
        guard let opened else { throw Failure(.inputOutput, "the draft '\(draft.file)' is gone") }
        switch try await edit(draft, opened) {
        case .unchanged:
            draft.remove()
            return EditResult(outcome: .unchanged, path: opened.path, folder: login.notes, revision: opened.revision)
        case .emptied:
            draft.remove()
            throw Failure(
                .badData,
                "the text is empty and was not saved; use \(ShellWord.command("byteclub notes rm", name)) to remove "
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
                let (folder, stamp) = (login.notes, try stamp(of: draft))
                let result = try await context.withRemote(login) {
                    try await NoteSaving(remote: $0, path: opened.path, folder: folder, stamp: stamp)
                        .save(text, madeFrom: opened.revision)
                }
                draft.remove()
                return result
            } catch {
                throw kept(draft, Failure(error))
            }
        }
    }

    /// The author and time of a draft, which change only with its text.
    private func stamp(of draft: Draft) throws -> ConflictStamp {
        let time = try LocalFile.modified(draft.file)?.date.seconds ?? 0
        return ConflictStamp(
            author: login.member, time: time, offset: context.calendar(time).secondsAsUTC - time)
    }

    /// Fetches the note and creates its draft.
    private func open(_ draft: Draft) async throws -> Draft.Origin {
        let path = path
        let note = try await context.withRemote(login) { remote in
            async let account = remote.account()
            let note = try await NoteContent.fetch(path, remote)
            // Checked before the edit; servers without roles in accounts refuse the save.
            if let role = try await account.role, role == Account.viewer {
                throw Failure(.notAuthorised, "your role here is \(role); ask an owner for the editor role")
            }
            return note
        }
        let origin = Draft.Origin(
            server: login.server.origin, path: note?.metadata.path ?? path, revision: note?.metadata.rev,
            hash: note.map { ContentHasher.hash($0.bytes) })
        try draft.begin(note?.bytes ?? [], origin: origin)
        return origin
    }

    /// Runs the editor and decides the next step.
    private func edit(_ draft: Draft, _ origin: Draft.Origin) async throws -> EditorDecision {
        let before = ContentHasher.hash(try draft.text())
        let start = context.uptime()
        let code = try await BlockingWork.run { [context] in
            try context.editor.run(Editor.command(environment: context.environment), draft.file)
        }
        let after = try draft.text()
        if code == 0, ContentHasher.hash(after) == before, context.uptime() - start < .milliseconds(100) {
            context.note("the editor exited at once; a graphical editor needs an option such as --wait")
        }
        return EditorDecision(base: origin.hash, after: after, exitCode: code)
    }

    private func failure(of code: Int32) -> String {
        let command = Editor.command(environment: context.environment)
        if code == 127 { return "the editor '\(command)' was not found; set EDITOR" }
        return "the editor '\(command)' failed with code \(code), so nothing was saved"
    }

    /// Adds the place of the kept text to a failure.
    private func kept(_ draft: Draft, _ failure: Failure) -> Failure {
        Failure(
            failure.status,
            failure.message + "; your text is in '\(draft.file)'; resume with "
                + ShellWord.command("byteclub notes edit", name, "--recover"))
    }
}
