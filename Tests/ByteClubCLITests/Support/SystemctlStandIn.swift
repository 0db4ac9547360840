import TestSupport
import Testing

@testable import ByteClubCLI

/// A program in place of systemctl that records its calls.
struct SystemctlStandIn {
    /// The folder it is in, for PATH.
    let folder: String
    private let home: String
    private var calls: String { home + "/calls" }

    /// Makes it, below a home.
    init(in home: String) async throws {
        self.home = home
        folder = home + "/bin"
        try LocalFile.makeDirectory(folder)
        try await become("exit 0")
    }

    /// Replaces the program's actions after it has recorded a call.
    ///
    /// Another process writes the file: programs that other tests start at the same time would inherit our descriptor,
    /// and the system refuses to run a program that is open for writing.
    func become(_ rest: String) async throws {
        let script = "#!/bin/sh\necho \"$*\" >> '\(calls)'\n\(rest)\n"
        let text = home + "/systemctl.text"
        try LocalFile.replace(text, with: Array(script.utf8), mode: 0o755)
        let copied = try await Program.run("/bin/cp", ["-p", "--remove-destination", text, folder + "/systemctl"])
        try #require(copied.status == 0, "\(copied)")
    }

    /// The calls since the last reading.
    func asked() throws -> [String] {
        defer { try? LocalFile.remove(calls) }
        guard LocalFile.exists(calls) else { return [] }
        return String(decoding: try LocalFile.read(calls), as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
