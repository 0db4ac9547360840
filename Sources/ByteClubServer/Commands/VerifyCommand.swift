import ArgumentParser
import ByteClubCore
import Logging

/// `verify`: re-hashes every content and checks all that is kept about it; works whether or not the server runs.
struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Verify a club's data: every byte against its hash, the tree, the history and the counters.",
        discussion: """
            Prints a line for each problem, and a summary. Exits with 0 if nothing is wrong, with 65 if something is \
            damaged; a damaged search index alone can be rebuilt with 'reindex'. Unreferenced content is listed but \
            is not damage: the server frees it in time.
            """)

    @OptionGroup var data: DataOption
    @Flag(help: "Print one object with the counts and an array of problems.")
    var json = false

    func run() async throws {
        let report = try await DataDirectory(path: data.data).verify()
        if json {
            StandardOutput.write(json: report.json())
        } else {
            for finding in report.findings { StandardOutput.write(line: finding.line) }
            StandardOutput.write(
                line: "\(report.isClean ? "clean" : "damaged"): \(report.versions) versions, "
                    + "\(report.contents) contents of \(report.bytes) bytes")
        }
        let count = report.findings.count(where: \.isDamage)
        if count > 0 { throw CommandFailure(.data, "'\(data.data)' is damaged: \(count) findings") }
    }
}

extension VerificationReport: JSONObjectWritable {
    func writeMembers(to json: inout JSONText) {
        json.member("clean", isClean)
        json.member("versions", Int64(versions))
        json.member("contents", Int64(contents))
        json.member("bytes", bytes)
        json.member("findings", findings)
    }
}

extension Finding: JSONObjectWritable {
    func writeMembers(to json: inout JSONText) {
        json.member("kind", kind.rawValue)
        json.member("subject", subject)
        json.member("problem", problem)
    }
}

/// `reindex`: makes the server rebuild the search index; works whether or not it runs.
struct ReindexCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reindex", abstract: "Rebuild the search index, when 'verify' finds it wrong.",
        discussion: """
            Only the index is changed. A running server starts rebuilding within a minute, a stopped one when it is \
            started; until it is done, text searches may miss notes.
            """)

    @OptionGroup var data: DataOption

    func run() async throws {
        let logger = Logger(label: "byteclub-server") { _ in SwiftLogNoOpLogHandler() }
        try await DataDirectory(path: data.data).reindex(logger: logger)
        StandardOutput.write(line: "the search index is empty; the server rebuilds it")
    }
}
