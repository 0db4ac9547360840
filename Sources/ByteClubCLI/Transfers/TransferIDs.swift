import ByteClubHTTP

/// Finds the transfers that people name by the first digits of their IDs.
struct TransferIDs: Sendable {
    /// How many digits are shown, unless more are needed to tell two apart.
    static let shown = 8
    /// How many must be typed.
    static let least = 4

    private let all: [BackgroundTask.ID]
    /// All of them as they are written, in order.
    private let sorted: [String]

    init(_ all: [BackgroundTask.ID]) {
        self.all = all
        sorted = all.map(\.description).sorted()
    }

    /// As many digits of an ID as tell it from every other one.
    func short(_ id: BackgroundTask.ID) -> String {
        let text = id.description
        // Those that begin as it does stand beside it.
        let place = place(of: text)
        let next = place < sorted.endIndex && sorted[place] == text ? place + 1 : place
        let neighbours = [place - 1, next].filter(sorted.indices.contains).map { sorted[$0] }
        let common = neighbours.map { zip($0.utf8, text.utf8).prefix { $0 == $1 }.count }.max() ?? 0
        return String(text.prefix(max(Self.shown, common + 1)))
    }

    /// Where a text is among the sorted ones, or would be.
    private func place(of text: String) -> Int {
        var range = sorted.indices
        while !range.isEmpty {
            let middle = (range.lowerBound + range.upperBound) / 2
            range = sorted[middle] < text ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }

    /// The IDs that some words stand for, each once.
    ///
    /// - Throws: ``Failure``: `usage` for a word that is no ID or several, `noInput` for one that nothing has.
    func resolve(_ words: [String]) throws -> [BackgroundTask.ID] {
        var found: [BackgroundTask.ID] = []
        for word in words {
            let id = try resolve(word)
            if !found.contains(id) { found.append(id) }
        }
        return found
    }

    private func resolve(_ word: String) throws -> BackgroundTask.ID {
        let digits = word.lowercased()
        guard (Self.least...16).contains(digits.utf8.count), digits.utf8.allSatisfy(Self.isDigit) else {
            throw Failure(
                .usage,
                "'\(Failure.line(word))' is not a transfer ID; write at least \(Self.least) digits of it, as "
                    + "'byteclub transfers' shows it")
        }
        let fitting = all.filter { $0.description.hasPrefix(digits) }
        if fitting.count > 1 {
            throw Failure(.usage, "'\(word)' matches \(fitting.count) transfers; write more digits of the ID")
        }
        guard let id = fitting.first else {
            throw Failure(.noInput, "no transfer '\(word)'; see 'byteclub transfers'")
        }
        return id
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) || (97...102).contains(byte) }
}
