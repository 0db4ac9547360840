import ArgumentParser
import ByteClubCore

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

extension VerificationReport: JSONWritable {
    func write(to json: inout JSONText) {
        json.object { json in
            json.key("clean")
            json.value(isClean)
            json.key("versions")
            json.value(Int64(versions))
            json.key("contents")
            json.value(Int64(contents))
            json.key("bytes")
            json.value(bytes)
            json.key("findings")
            findings.write(to: &json)
        }
    }
}

extension Finding: JSONWritable {
    func write(to json: inout JSONText) {
        json.object { json in
            json.key("kind")
            json.value(kind.rawValue)
            json.key("subject")
            json.value(subject)
            json.key("problem")
            json.value(problem)
        }
    }
}
