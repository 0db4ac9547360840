import ByteClubCore
import ByteClubFiles
import Glibc

/// How to have a person edit a file.
struct Editor: Sendable {
    /// Runs a command on a file and waits for its end: its exit code, or 128 plus a signal's number.
    var run: @Sendable (_ command: String, _ path: String) throws -> Int32

    /// The editor in the environment, a shell command with options.
    static func command(environment: [String: String]) -> String {
        let value = { (name: String) in environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        if environment["TERM"] != "dumb", let visual = value("VISUAL") { return visual }
        return value("EDITOR") ?? "vi"
    }
}

extension Editor {
    /// Runs the command in a shell, in the foreground on the terminal.
    ///
    /// Ctrl-C is for the editor while it runs.
    static let shell = Editor { command, path in
        let oldInterrupt = signal(SIGINT, SIG_IGN)
        let oldQuit = signal(SIGQUIT, SIG_IGN)
        defer {
            signal(SIGINT, oldInterrupt)
            signal(SIGQUIT, oldQuit)
        }
        let child = try ShellCommand.start(command, path)
        guard let code = ShellCommand.end(of: child) else { throw FileFailure("read", command) }
        return code
    }
}

/// The next step after the editor has ended, decided from the texts before and after.
enum EditorDecision: Hashable, Sendable {
    /// The text has not changed: nothing to save.
    case unchanged
    /// The text is empty: not saved, since `rm` is the command for deletion.
    case emptied
    /// The editor failed: the text is kept but not saved.
    case failed(Int32)
    /// Save this text.
    case save

    /// Decides by the hash of the note's text, nil for a new note, and by the draft's text after the editor ended.
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
