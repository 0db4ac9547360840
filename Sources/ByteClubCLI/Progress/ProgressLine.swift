import ByteClubCore

/// The state of a transfer as one line.
enum ProgressLine {
    /// How much a line may tell.
    enum Style: Sendable {
        /// A line that is redrawn, in this many columns.
        case bar(columns: Int)
        /// A line in a log.
        case plain
    }

    /// The columns of a name to keep before other parts are dropped.
    private static let leastName = 12

    /// The line; when space is short the name is shortened, then time left, rate and sizes are dropped.
    static func text(_ state: ProgressState, style: Style) -> String {
        let place = place(state)
        let name = place + Failure.line(state.name)
        let percent = state.percent.map { padded("\($0)%", 4) } ?? "   ?"
        let size = sizes(state)
        let rate = state.isStalled ? "" : state.bytesPerSecond.map { HumanSize.shown(Int64($0)) + "/s" } ?? ""
        let left = time(state)
        switch style {
        case .plain:
            return [name, state.percent == nil ? "" : percent, size, rate, left].filter { !$0.isEmpty }
                .joined(separator: "  ")
        case .bar(let columns):
            // The last column stays empty: many terminals wrap when it is filled.
            let width = max(0, columns - 1)
            for tail in [[percent, size, rate, left], [percent, size, rate], [percent, size], [percent]] {
                let tail = tail.filter { !$0.isEmpty }.joined(separator: "  ")
                let room = width - DisplayWidth.of(tail) - 2
                if room >= min(DisplayWidth.of(name), place.utf8.count + leastName) {
                    let shown = DisplayWidth.shortened(Failure.line(state.name), to: room - place.utf8.count)
                    return place + shown + "  " + tail
                }
            }
            return DisplayWidth.shortened(percent, to: width)
        }
    }

    private static func place(_ state: ProgressState) -> String {
        state.place.map { "[\($0.number)/\($0.of)] " } ?? ""
    }

    private static func sizes(_ state: ProgressState) -> String {
        let moved = HumanSize.shown(state.moved)
        guard let total = state.total.map({ HumanSize.shown($0) }) else { return moved }
        // One unit for both is enough.
        let (own, of) = (moved.split(separator: " "), total.split(separator: " "))
        return (own.last == of.last ? own.first.map(String.init) ?? moved : moved) + " of " + total
    }

    private static func time(_ state: ProgressState) -> String {
        if state.isStalled { return "stalled \(duration(Int(state.idle)))" }
        return state.secondsLeft.map { duration($0) + " left" } ?? ""
    }

    /// `12s`, `3m05s`, `2h07m`.
    static func duration(_ seconds: Int) -> String {
        let two = { (value: Int) in value < 10 ? "0\(value)" : "\(value)" }
        if seconds < 60 { return "\(seconds)s" }
        if seconds < 3600 { return "\(seconds / 60)m\(two(seconds % 60))s" }
        return "\(seconds / 3600)h\(two(seconds / 60 % 60))m"
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.utf8.count)) + text
    }
}

/// The words of a log for the transfers of a command.
struct TransferWords: Sendable {
    /// As in "uploading".
    var doing: String
    /// As in "uploaded".
    var done: String
    /// As in "photo"; the plural has an s.
    var noun: String

    static let upload = TransferWords(doing: "uploading", done: "uploaded", noun: "photo")
    static let download = TransferWords(doing: "downloading", done: "downloaded", noun: "photo")
    static let saving = TransferWords(doing: "saving", done: "saved", noun: "note")
    static let comparison = TransferWords(doing: "comparing", done: "compared", noun: "mirror")

    /// The line before the first transfer.
    func start(_ name: String, of count: Int, total: Int64?) -> String {
        doing + " " + (count == 1 ? name : "\(count) \(noun)s") + size(total)
    }

    /// The line after a transfer.
    func finish(_ name: String, bytes: Int64, seconds: Double) -> String {
        "\(done) \(name)\(size(bytes)) in \(time(seconds))"
    }

    /// The line after all transfers.
    func summary(files: Int, of count: Int, present: Int = 0, bytes: Int64, seconds: Double) -> String {
        let number = files == count ? "\(count)" : "\(files) of \(count)"
        return "\(done) \(number) \(noun)\(count == 1 ? "" : "s")\(size(bytes)) in \(time(seconds))"
            + (present > 0 ? "; \(present) already there" : "")
    }

    private func size(_ bytes: Int64?) -> String { bytes.map { ", " + HumanSize.shown($0) } ?? "" }

    private func time(_ seconds: Double) -> String { ProgressLine.duration(max(1, Int(seconds.rounded()))) }
}
