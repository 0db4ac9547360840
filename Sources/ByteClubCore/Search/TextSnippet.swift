/// A piece of a text around a match.
public struct TextSnippet: Hashable, Sendable, Encodable {
    /// Some characters, all of which were looked for or none.
    public struct Part: Hashable, Sendable, Encodable {
        /// The characters.
        public var text: String
        /// Whether this part is the match.
        public var isMatch: Bool

        private enum CodingKeys: String, CodingKey {
            case text, isMatch = "match"
        }

        /// Creates a part.
        public init(_ text: String, isMatch: Bool = false) {
            self.text = text
            self.isMatch = isMatch
        }
    }

    /// The parts in their order; together they are the piece, on one line.
    public var parts: [Part]

    /// The piece without its marks.
    public var text: String { parts.map(\.text).joined() }

    /// Creates a snippet.
    public init(_ parts: [Part]) {
        self.parts = parts
    }

    /// Encodes an array of parts.
    public func encode(to encoder: any Encoder) throws { try parts.encode(to: encoder) }
}

extension TextSnippet {
    /// About how many bytes a snippet has.
    private static let length = 160
    /// About how many of them come before the first match.
    private static let lead = 40
    /// How many matches are looked at for the best place.
    private static let mostMatches = 200

    private struct Match {
        var words: Range<Int>
        var place: Range<Int>
        var phrase: Int
    }

    /// Cuts out the piece in which most of a query's phrases are; nil when none is in the text.
    public init?(of text: String, _ query: TextQuery) {
        let folded = FoldedText(text)
        let matches = Self.matches(query, in: folded)
        guard let first = Self.best(matches) else { return nil }
        let bytes = Array(text.utf8)
        var start = max(0, first.place.lowerBound - Self.lead)
        if start > 0 {
            let isFar = folded.words[first.words.lowerBound].place.lowerBound
            start = folded.words[..<first.words.lowerBound].last { $0.place.lowerBound < start }?.place.upperBound ?? 0
            if isFar - start > 2 * Self.lead { start = first.place.lowerBound - Self.lead }
        }
        let end = min(bytes.count, max(start + Self.length, min(first.place.upperBound, start + 2 * Self.length)))
        let piece = Self.whole(bytes, from: start)..<Self.whole(bytes, from: end)
        var parts: [Part] = piece.lowerBound > 0 ? [Part("…")] : []
        var done = piece.lowerBound
        for match in matches where match.place.lowerBound >= done && match.place.lowerBound < piece.upperBound {
            let end = min(match.place.upperBound, piece.upperBound)
            parts.append(Part(Self.line(bytes[done..<match.place.lowerBound])))
            parts.append(Part(Self.line(bytes[match.place.lowerBound..<end]), isMatch: true))
            done = end
        }
        parts.append(Part(Self.line(bytes[done..<piece.upperBound]) + (piece.upperBound < bytes.count ? "…" : "")))
        self.init(Self.joined(parts))
    }

    private static func matches(_ query: TextQuery, in text: FoldedText) -> [Match] {
        var matches: [Match] = []
        var index = 0
        while index < text.words.count, matches.count < mostMatches {
            let found = query.phrases.indices.filter { query.phrases[$0].begins(at: index, in: text) }
            guard let phrase = found.max(by: { query.phrases[$0].words.count < query.phrases[$1].words.count }) else {
                index += 1
                continue
            }
            let words = index..<(index + query.phrases[phrase].words.count)
            let place =
                text.words[words.lowerBound].place.lowerBound..<text.words[words.upperBound - 1].place.upperBound
            matches.append(Match(words: words, place: place, phrase: phrase))
            index = words.upperBound
        }
        return matches
    }

    /// The first match of the piece that has most different phrases.
    private static func best(_ matches: [Match]) -> Match? {
        var best: (match: Match, count: Int)?
        for (index, match) in matches.enumerated() {
            let near = matches[index...].prefix { $0.place.upperBound <= match.place.lowerBound + length - lead }
            let count = Set(near.map(\.phrase)).count
            if count > best?.count ?? -1 { best = (match, count) }
        }
        return best?.match
    }

    /// The nearest place from here on at which a character begins.
    private static func whole(_ bytes: [UInt8], from place: Int) -> Int {
        var place = max(0, place)
        while place < bytes.count, bytes[place] & 0xC0 == 0x80 { place += 1 }
        return min(place, bytes.count)
    }

    /// The characters with one blank for each run of blanks and line ends.
    private static func line(_ bytes: ArraySlice<UInt8>) -> String {
        var line: [UInt8] = []
        line.reserveCapacity(bytes.count)
        for byte in bytes {
            if byte > 0x20 {
                line.append(byte)
            } else if line.last != 0x20 {
                line.append(0x20)
            }
        }
        return String(decoding: line, as: UTF8.self)
    }

    private static func joined(_ parts: [Part]) -> [Part] {
        parts.reduce(into: []) { joined, part in
            if part.text.isEmpty { return }
            if let last = joined.last, last.isMatch == part.isMatch {
                joined[joined.count - 1].text += part.text
            } else {
                joined.append(part)
            }
        }
    }
}

extension TextSnippet: JSONReadable {
    /// The most parts that are read.
    private static let mostParts = 1_000

    /// Reads the wire's array.
    public init(json: inout JSONReader) throws(JSONError) {
        var parts: [Part] = []
        try json.array { (json) throws(JSONError) in
            guard parts.count < Self.mostParts else {
                throw JSONError(.invalid("longer than \(Self.mostParts) elements"))
            }
            var part = Part("")
            try json.object { (json, name) throws(JSONError) in
                switch name {
                case "text": part.text = try json.value()
                case "match": part.isMatch = try json.optional() ?? false
                default: try json.skip()
                }
            }
            parts.append(part)
        }
        self.init(parts)
    }
}
