import ArgumentParser
import ByteClubCore

/// The command `byteclub doctor`.
struct DoctorCommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check this set-up, and say how to fix what is wrong.",
        discussion: """
            Checks the programs, the settings, the login, the server and its clock, the mirror with its conflicts, \
            held deletions and skipped files, and the disk. Changes nothing. Exits with 0 when no check fails, \
            otherwise with the code of the first failure.
            """)

    @OptionGroup var options: RemoteOptions

    /// The findings of all checks.
    struct Result: CommandResult {
        var checks: [Finding]
        var isVisible: Bool { true }

        func text(_ style: TextStyle) -> String {
            var table = TextTable(.init(), .init(), .init())
            for finding in checks {
                let advice = finding.advice.map { "; \($0)" } ?? ""
                let outcome = style.marked(finding.outcome.state, finding.outcome.rawValue)
                table.rows.append([outcome, finding.check, finding.message + advice])
            }
            return style.facts(table).split(separator: "\n").map { Self.painted($0, style) }.joined(separator: "\n")
        }

        /// Colours a line of the table that begins with an outcome.
        private static func painted(_ line: Substring, _ style: TextStyle) -> String {
            for outcome in Finding.Outcome.allCases {
                let cell = style.marked(outcome.state, outcome.rawValue)
                if line.hasPrefix(cell) {
                    return style.state(outcome.state, outcome.rawValue) + line.dropFirst(cell.count)
                }
            }
            return String(line)
        }
    }

    func run(in context: Context) async throws {
        // Only the program with the engine can read a mirror's state. If it is missing, the check of the programs
        // reports it.
        if context.engine == nil, let place = try? MirrorPlace(nil, context), LocalFile.isDirectory(place.state) {
            do { try SiblingProgram.mirror.become(context.arguments, context) } catch {}
        }
        let findings = await Checkup(context: context, flags: options.connection.settings).findings()
        try context.print(Result(checks: findings), json: options.output.json)
        if let failure = findings.first(where: { $0.outcome == .fail }) { throw Failure.silent(failure.status) }
    }
}
