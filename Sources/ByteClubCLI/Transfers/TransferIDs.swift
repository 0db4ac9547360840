import ByteClubHTTP

/// Transfers by the first digits of their IDs.
struct TransferIDs: Sendable {
    /// The digits to show, unless more are needed.
    static let shown = 8
    /// How many must be typed.
    static let least = 4

    private let all: [BackgroundTask.ID]
    /// All IDs as text, sorted.
    private let sorted: [String]

    init(_ all: [BackgroundTask.ID]) {
        self.all = all
        sorted = all.map(\.description).sorted()
    }

    /// The shortest unique prefix of an ID.
    func short(_ id: BackgroundTask.ID) -> String {
        let text = id.description
        // IDs with the same prefix are its neighbours.
        let place = place(of: text)
        let next = place < sorted.endIndex && sorted[place] == text ? place + 1 : place
        let neighbours = [place - 1, next].filter(sorted.indices.contains).map { sorted[$0] }
        let common = neighbours.map { zip($0.utf8, text.utf8).prefix { $0 == $1 }.count }.max() ?? 0
        return String(text.prefix(max(Self.shown, common + 1)))
    }

    /// The index of a text among the sorted ones, or where it would be inserted.
    private func place(of text: String) -> Int {
        var range = sorted.indices
        while !range.isEmpty {
            let middle = (range.lowerBound + range.upperBound) / 2
            range = sorted[middle] < text ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }

    /// The IDs for some prefixes, without duplicates.
    ///
    /// - Throws: ``Failure``: `usage` for an invalid or ambiguous prefix, `noInput` for an unknown one.
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
