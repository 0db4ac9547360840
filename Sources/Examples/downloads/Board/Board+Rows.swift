import ExampleSupport

extension Board {
    /// A row of the screen.
    package struct Row: Equatable, Sendable {
        /// The meaning of the row's colour.
        package enum Tone: Sendable {
            case plain, good, bad, held
        }

        package var text: String
        package var tone = Tone.plain
        package var isSelected = false

        /// The row for a terminal, with or without colours.
        package func painted(hasColours: Bool) -> String {
            let code =
                switch tone {
                case .plain: ""
                case .good: "32"
                case .bad: "31"
                case .held: "33"
                }
            let codes = [isSelected ? "1" : "", code].filter { !$0.isEmpty }.joined(separator: ";")
            return hasColours && !codes.isEmpty ? "\u{1B}[\(codes)m\(text)\u{1B}[0m" : text
        }
    }

    /// The screen: a row for each download, as far as they fit around the selected one, and the keys.
    ///
    /// - Parameters:
    ///   - columns: The terminal's width; no row is wider.
    ///   - lines: The terminal's height; there are fewer rows, but at least two.
    /// - Returns: The rows from the top.
    package func rows(columns: Int, lines: Int) -> [Row] {
        let room = min(max(lines - 2, 1), downloads.count)
        let first = min(max(selected - room / 2, 0), downloads.count - room)
        let width = nameWidth(columns)
        let rows = (first..<(first + room)).map { place -> Row in
            let download = downloads[place]
            let number = String(place + 1)
            let text =
                (place == selected ? ">" : " ") + String(repeating: " ", count: numberWidth - number.count) + number
                + "  " + String(download.name.prefix(width)).padded(to: width) + "  "
                + download.stateWords.padded(to: 9) + "  " + download.details
            return Row(
                text: String(text.prefix(max(columns, 1))), tone: download.state.tone, isSelected: place == selected)
        }
        let keys = "arrows or digits select, p pauses, r resumes, c cancels, q leaves"
        return rows + [Row(text: String(keys.prefix(max(columns, 1))))]
    }

    private var numberWidth: Int { String(downloads.count).count }

    /// The width of the names: the longest one's, but with room for the state and an amount beside it.
    private func nameWidth(_ columns: Int) -> Int {
        let longest = downloads.map(\.name.count).max() ?? 0
        return min(longest, max(columns - numberWidth - 34, 8))
    }
}

extension Board.State {
    fileprivate var tone: Board.Row.Tone {
        switch self {
        case .waiting, .running: .plain
        case .done: .good
        case .failed: .bad
        case .paused, .cancelled: .held
        }
    }
}

extension Board.Download {
    /// A line about a state that is new, for people without a screen.
    package var line: String {
        let met = isMet && state.isUnderWay ? ", met again" : ""
        return "\(name): \(stateWords)\(met)" + (details.isEmpty ? "" : ", \(details)")
    }

    /// The state, and what a download waits for.
    fileprivate var stateWords: String {
        state == .waiting && isOffline ? "waiting for the network" : state.rawValue
    }

    /// Bytes, rate, pieces, the identifier and the reason, as far as there are any.
    fileprivate var details: String {
        var parts: [String] = []
        if bytes > 0 || state == .running { parts.append(state == .done ? size(bytes) : amount(bytes, of: total)) }
        if state == .running, bytesPerSecond >= 1 { parts.append(size(Int64(min(bytesPerSecond, 1e15))) + "/s") }
        if let resumedAt { parts.append(resumedAt > 0 ? "goes on at \(size(resumedAt))" : "begins anew") }
        if let pieces, pieces > 0 {
            parts.append("\(pieces) " + (pieces == 1 ? "piece" : "pieces"))
            if state == .running { parts.append("the last of \(size(Int64(lastPiece)))") }
        }
        if let id, state != .done { parts.append(id) }
        if let failure { parts.append(failure.message) }
        return parts.joined(separator: ", ")
    }
}
