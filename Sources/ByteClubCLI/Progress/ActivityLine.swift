import ByteClubCore

/// The activity of a sync as one line.
enum ActivityLine {
    /// The line in fewer than `columns` columns: parts of least importance are dropped first, and the last one is
    /// shortened.
    static func text(_ activity: MirrorActivity, columns: Int, _ style: TextStyle) -> String {
        // The last column stays empty: many terminals wrap when it is filled.
        let width = max(0, columns - 1)
        var parts = parts(activity, style).map(Failure.line).filter { !$0.isEmpty }
        while parts.count > 1, DisplayWidth.of(joined(parts)) > width { parts.removeLast() }
        return DisplayWidth.shortened(joined(parts), to: width)
    }

    private static func joined(_ parts: [String]) -> String { parts.joined(separator: ", ") }

    /// The parts of the line, the most important first.
    private static func parts(_ activity: MirrorActivity, _ style: TextStyle) -> [String] {
        let open = [
            count(activity.conflicts, "conflict"), count(activity.held, "deletion", "held"),
            activity.areRulesHeld ? "ignore rules held" : "", count(activity.problems, "problem"),
        ]
        switch activity.phase {
        case .looking: return ["comparing both sides"] + open
        case .working:
            let rate = activity.bytesPerSecond.map { HumanSize.shown(Int64($0)) + "/s" } ?? ""
            return [work(activity), rate, transfers(activity.transfers)] + open
        case .watching: return ["watching", settled(activity)] + open
        case .waiting(let reason, let until):
            let short = reason.ranges(of: " (").first.map { String(reason[..<$0.lowerBound]) } ?? reason
            return ["retrying at \(style.calendar(until).clock): \(short)"] + open
        case .metered: return [NetworkCost.waiting] + open
        case .paused(let until):
            return ["paused" + (until.map { " until \(style.calendar($0))" } ?? ""), "'byteclub sync resume' resumes"]
                + open
        }
    }

    /// `↑ 12 ↓ 3 of 340`.
    private static func work(_ activity: MirrorActivity) -> String {
        var parts: [String] = []
        if activity.uploaded > 0 { parts.append("↑ \(grouped(activity.uploaded))") }
        if activity.downloaded > 0 { parts.append("↓ \(grouped(activity.downloaded))") }
        if parts.isEmpty { parts.append(activity.done > 0 ? "changed \(grouped(activity.done))" : "syncing") }
        if let total = activity.total, activity.done > 0, total > activity.done {
            parts.append("of \(grouped(total))")
        }
        return parts.joined(separator: " ")
    }

    private static func transfers(_ transfers: [MirrorActivity.Transfer]) -> String {
        guard let first = transfers.first else { return "" }
        let total = transfers.reduce(0) { $0 + Double($1.total) }
        let completed = transfers.reduce(0) { $0 + Double($1.completed) }
        let percent = total > 0 ? Int(min(100, completed * 100 / total)) : 0
        let name = transfers.count == 1 ? LocalFile.name(of: first.path) : "\(transfers.count) large files"
        return "\(name) \(percent)%"
    }

    private static func settled(_ activity: MirrorActivity) -> String {
        guard let files = activity.files else { return "" }
        if activity.pending > 0 { return "\(grouped(activity.pending)) not in sync yet" }
        return files == 1 ? "1 file in sync" : "all \(grouped(files)) files in sync"
    }

    private static func count(_ number: Int, _ noun: String, _ rest: String = "") -> String {
        if number == 0 { return "" }
        return "\(grouped(number)) \(noun)\(number == 1 ? "" : "s")" + (rest.isEmpty ? "" : " \(rest)")
    }

    /// `12,345`.
    static func grouped(_ number: Int) -> String {
        var text = ""
        for (index, digit) in String(number).reversed().enumerated() {
            if index > 0, index.isMultiple(of: 3), digit != "-" { text.append(",") }
            text.append(digit)
        }
        return String(text.reversed())
    }
}
