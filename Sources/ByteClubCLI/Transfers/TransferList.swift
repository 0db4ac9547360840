import ByteClubCore
import ByteClubHTTP

/// Background transfers; as JSON an array of ``TransferObject``s.
struct TransferList: CommandResult {
    var transfers: [TransferObject]
    /// The terminal's rows for the list; the oldest finished transfers are dropped first, and counted.
    var rows: Int?
    var isVisible: Bool { true }

    init(_ statuses: [BackgroundStatus], of all: [BackgroundStatus]? = nil) {
        let ids = TransferIDs((all ?? statuses).map(\.id))
        transfers = statuses.map { TransferObject($0, id: ids.short($0.id)) }
    }

    /// Columns that fit the terminal; elsewhere all fields, separated by tabs.
    func text(_ style: TextStyle) -> String {
        guard style.columns != nil else {
            var table = TextTable()
            table.rows = transfers.map { transfer in
                [
                    transfer.id, transfer.kind.rawValue, transfer.label, transfer.state, "\(transfer.bytes)",
                    transfer.total.map { "\($0)" } ?? "", "\(transfer.rate)",
                    transfer.timeLeft.map { "\($0)" } ?? "", transfer.message ?? "",
                ]
            }
            return style.list(table)
        }
        var table = TextTable(
            .init("ID"), .init("NAME", isShortened: true), .init("STATE"), .init("BYTES", .right, rank: 1),
            .init("OF", .right, rank: 2), .init("RATE", .right, rank: 3), .init("LEFT", .right, rank: 4))
        let shown = shown
        table.rows = shown.map { row($0, style) }
        let more = transfers.count - shown.count
        var lines = style.list(table).split(separator: "\n").map(String.init)
        // After the titles, each line is a transfer.
        for (index, transfer) in shown.enumerated() where lines.indices.contains(index + 1) {
            guard let state = Self.states[transfer.state],
                let range = lines[index + 1].ranges(of: style.marked(state, transfer.state)).last
            else { continue }
            lines[index + 1].replaceSubrange(range, with: style.state(state, transfer.state))
        }
        if more > 0 { lines.append("and \(more) more") }
        let room = rows.map { max(0, $0 - shown.count - (more > 0 ? 1 : 0)) }
        lines += remarks(of: shown, style).prefix(room ?? .max).map { remark in
            // A redrawn list has a line for each.
            rows == nil ? style.lines([remark]) : DisplayWidth.shortened(remark, to: style.columns ?? 80)
        }
        return lines.filter { !$0.isEmpty }.joined(separator: "\n")
    }

    /// The states of transfers that do not move.
    private static let states: [String: TextStyle.State] = ["done": .good, "paused": .warning, "failed": .bad]

    /// Reasons why transfers have failed or wait, grouped.
    private func remarks(of transfers: [TransferObject], _ style: TextStyle) -> [String] {
        let remarks = transfers.compactMap { transfer in remark(transfer, style).map { (transfer.shortID, $0) } }
        return ProblemGroup.groups(of: remarks).map { $0.entries + $0.message }
    }

    /// The reason why a transfer has failed or waits.
    private func remark(_ transfer: TransferObject, _ style: TextStyle) -> String? {
        guard transfer.state != "done" else { return nil }
        let message = transfer.message.map { ": " + Failure.line($0) } ?? ""
        if let next = transfer.nextSeconds { return " retrying at \(style.calendar(next).clock)\(message)" }
        return message.isEmpty ? nil : message
    }

    /// The transfers that fit the screen, unfinished ones first.
    private var shown: [TransferObject] {
        guard let rows, transfers.count > rows else { return transfers }
        let (done, rest) = (transfers.filter { $0.state == "done" }, transfers.filter { $0.state != "done" })
        return Array((rest + done).prefix(max(1, rows - 1)))
    }

    private func row(_ transfer: TransferObject, _ style: TextStyle) -> [String] {
        let arrow = ["upload": "↑ ", "download": "↓ "][transfer.kind.rawValue] ?? ""
        let state = Self.states[transfer.state].map { style.marked($0, transfer.state) } ?? transfer.state
        let isKnown = transfer.total != nil || transfer.bytes > 0
        return [
            transfer.shortID, arrow + transfer.label, state, isKnown ? HumanSize.shown(transfer.bytes) : "",
            transfer.total.map { HumanSize.shown($0) } ?? "",
            transfer.rate > 0 ? HumanSize.shown(transfer.rate) + "/s" : "",
            transfer.timeLeft.map { ProgressLine.duration($0) } ?? "",
        ]
    }

    func encode(to encoder: any Encoder) throws { try transfers.encode(to: encoder) }
}

/// Lines on a terminal that are redrawn in place, and remain at the end.
struct LiveTable {
    private var drawn: [Substring] = []

    /// Draws an escaped text over the previous one.
    mutating func show(_ text: String, on output: Output) throws {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        if lines == drawn { return }
        // Up to the first line, each line to its end, and erase below (ECMA-48: CUU, EL, ED).
        let frame =
            (drawn.isEmpty ? "" : "\r\u{1B}[\(drawn.count)A") + lines.map { $0 + "\u{1B}[K\n" }.joined() + "\u{1B}[J"
        drawn = lines
        try output.writeVisible(Array(frame.utf8))
    }
}
