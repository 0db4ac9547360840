/// How to have a person edit a file.
struct Editor: Sendable {
    /// Runs a command on a file and waits for its end: its exit code, or 128 plus the signal that ended it.
    var run: @Sendable (_ command: String, _ path: String) throws -> Int32

    /// The command that the environment asks for, a shell command with its options.
    static func command(environment: [String: String]) -> String {
        let value = { (name: String) in environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        if environment["TERM"] != "dumb", let visual = value("VISUAL") { return visual }
        return value("EDITOR") ?? "vi"
    }
}
