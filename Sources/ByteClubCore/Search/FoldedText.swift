/// The words of a text as searches see them: without case and accents, one for each character where a script has no
/// blanks.
public struct FoldedText: Sendable {
    /// A word, and where it stands in the text.
    struct Word: Sendable {
        /// Where it begins in ``FoldedText/bytes``.
        var start: Int
        /// Where it ends there.
        var end: Int
        /// Where it stands in the text, in bytes.
        var place: Range<Int>
        /// Whether it is a single character of a script without blanks.
        var isCharacter: Bool
    }

    /// The most bytes of a text whose words are looked at: 1 MiB.
    public static let maximumBytes = 1 << 20
    /// The version of the rules by which words are made, which an index keeps.
    public static var version: Int64 { ScalarFolding.version }

    /// The most bytes of a word that count.
    private static let longestWord = 64

    /// The words with a blank between them.
    public private(set) var bytes: [UInt8] = []
    /// Each word.
    private(set) var words: [Word] = []
    private var isOpen = false

    /// Takes a text apart.
    public init(_ text: String) {
        var text = text
        let count = text.utf8.count
        bytes.reserveCapacity(count + count / 4)
        words.reserveCapacity(count / 8)
        text.withUTF8 { buffer in
            var place = 0
            while place < buffer.count {
                let byte = unsafe buffer[place]
                if byte < 0x80 {
                    var end = place
                    while end < buffer.count, Self.isLetter(unsafe buffer[end]) { end += 1 }
                    if end > place {
                        unsafe take(buffer[place..<end])
                        place = end
                    } else {
                        isOpen = false
                        place += 1
                    }
                } else {
                    let length = byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4
                    let end = min(place + length, buffer.count)
                    var value = UInt32(byte) & (0x7F >> UInt32(length))
                    for index in (place + 1)..<end { value = value << 6 | UInt32(unsafe buffer[index] & 0x3F) }
                    take(ScalarFolding.of(Unicode.Scalar(value) ?? "\u{FFFD}"), at: place..<end)
                    place = end
                }
            }
        }
    }

    /// Takes apart what a file holds; nil when that is no text: not UTF-8, with a NUL, or longer than
    /// ``maximumBytes``.
    public init?(content: [UInt8]) {
        guard let text = Self.text(content) else { return nil }
        self.init(text)
    }

    /// What a file holds, when it is a text.
    public static func text(_ content: [UInt8]) -> String? {
        if content.count > maximumBytes || content.contains(0) { return nil }
        return String(validating: content, as: UTF8.self)
    }

    /// The words as one text.
    public var string: String { String(decoding: bytes, as: UTF8.self) }

    /// Whether a byte is a letter or a digit of ASCII.
    private static func isLetter(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10
    }

    /// Takes letters and digits of ASCII.
    private mutating func take(_ letters: Slice<UnsafeBufferPointer<UInt8>>) {
        let (start, end) = unsafe (letters.startIndex, letters.endIndex)
        if !isOpen || words.last?.isCharacter == true { open(at: start, isCharacter: false) }
        let index = words.count - 1
        words[index].place = words[index].place.lowerBound..<end
        let room = Self.longestWord - (bytes.count - words[index].start)
        unsafe bytes.append(contentsOf: letters.prefix(max(0, room)).lazy.map { $0 &- 0x41 < 26 ? $0 | 0x20 : $0 })
        words[index].end = bytes.count
    }

    private mutating func take(_ folding: ScalarFolding, at place: Range<Int>) {
        switch folding.kind {
        case .separator:
            isOpen = false
            return
        case .ignored, .mark: if !isOpen { return }
        case .letter:
            if !isOpen || words.last?.isCharacter == true { open(at: place.lowerBound, isCharacter: false) }
        case .character: open(at: place.lowerBound, isCharacter: true)
        }
        let index = words.count - 1
        words[index].place = words[index].place.lowerBound..<place.upperBound
        guard bytes.count + folding.bytes.count - words[index].start <= Self.longestWord else { return }
        bytes += folding.bytes
        words[index].end = bytes.count
    }

    private mutating func open(at place: Int, isCharacter: Bool) {
        if !bytes.isEmpty { bytes.append(UInt8(ascii: " ")) }
        words.append(Word(start: bytes.count, end: bytes.count, place: place..<place, isCharacter: isCharacter))
        isOpen = true
    }
}
