package import ExampleSupport

extension Board {
    /// What of its downloads outlives the program.
    package enum Survival: Sendable {
        /// Nothing: the same command begins anew.
        case nothing
        /// The bytes received, from which the same command goes on.
        case parts
        /// The downloads themselves, which a daemon performs.
        case downloads
    }

    /// How the program ends.
    package struct Ending: Equatable, Sendable {
        /// The exit code; nil for success.
        package var code: Failure.Code?
        /// The last line; nil where there is nothing to say.
        package var words: String?
    }

    /// The exit code and the last line: success needs each file complete, or on its way without the program.
    ///
    /// - Parameter survival: What outlives the program.
    /// - Returns: The ending.
    package func ending(_ survival: Survival) -> Ending {
        let left = downloads.filter { $0.state != .done }
        guard !left.isEmpty else { return Ending() }
        let missing = survival == .downloads ? left.filter { !$0.state.isUnderWay } : left
        let codes = Set(missing.map { $0.failure?.code })
        // One reason for all is the program's.
        let shared = missing.count == downloads.count && codes.count == 1 ? codes.first ?? nil : nil
        let code = stopped ?? (missing.isEmpty ? nil : shared ?? .partlyDone)
        let count = missing.isEmpty ? nil : "\(missing.count) of \(downloads.count) not downloaded"
        let head = stopped == nil ? count : "stopped"
        if survival == .downloads {
            return Ending(code: code, words: (head.map { $0 + ": " } ?? "") + Self.fates(of: left))
        }
        if stopped == nil, shared != nil { return Ending(code: code, words: head) }
        let way = survival == .parts ? "goes on from here" : "begins anew"
        return Ending(code: code, words: (head ?? "") + "; the same command " + way)
    }

    /// What each of the unfinished downloads of a daemon does when the program has ended.
    private static func fates(of left: [Download]) -> String {
        func count(_ states: State...) -> Int { left.count { states.contains($0.state) } }
        let (failed, cancelled, paused) = (count(.failed), count(.cancelled), count(.paused))
        let underWay = count(.waiting, .running)
        var fates: [String] = []
        if failed > 0 { fates.append("\(failed) failed") }
        if cancelled > 0 { fates.append("\(cancelled) cancelled") }
        if paused > 0 { fates.append("\(paused) paused until r resumes " + (paused == 1 ? "it" : "them")) }
        if underWay > 0 { fates.append("\(underWay) \(underWay == 1 ? "goes" : "go") on in the background") }
        let met = paused + underWay
        let meeting = "; 'downloads --session background' meets " + (met == 1 ? "it" : "them") + " again"
        return fates.joined(separator: ", ") + (met > 0 ? meeting : "")
    }
}
