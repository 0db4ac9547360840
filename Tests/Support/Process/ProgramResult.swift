/// How a program ended and what it said.
public struct ProgramResult: Sendable, CustomStringConvertible {
    /// The command line, for messages.
    public let command: String
    /// The exit code, or 128 plus the number of the signal that ended the program.
    public let status: Int32
    /// The signal that ended the program, or nil.
    public let signal: Int32?
    /// Whether the harness ended the program because it took too long.
    public let isTimedOut: Bool
    /// What the program wrote to standard output.
    public let output: [UInt8]
    /// What the program wrote to standard error.
    public let errors: [UInt8]
    /// The most memory the program held in RAM, in bytes, as sampled every few milliseconds.
    public let peakMemory: Int64
    /// The processor time that the program used, in seconds.
    public let processorSeconds: Double
    /// The time from start to end in seconds.
    public let seconds: Double

    /// Standard output as text.
    public var text: String { String(decoding: output, as: UTF8.self) }
    /// Standard error as text.
    public var errorText: String { String(decoding: errors, as: UTF8.self) }
    /// The lines of standard output.
    public var lines: [String] { Self.lines(text) }
    /// The lines of standard error.
    public var errorLines: [String] { Self.lines(errorText) }

    private static func lines(_ text: String) -> [String] {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if lines.last?.isEmpty == true { lines.removeLast() }
        return lines
    }

    /// What a failed expectation should show.
    public var description: String {
        let end = signal.map { "signal \($0)" } ?? "exit \(status)"
        return """
            \(command): \(isTimedOut ? "timed out, " : "")\(end)
            stdout: \(text.suffix(2000))
            stderr: \(errorText.suffix(2000))
            """
    }
}
