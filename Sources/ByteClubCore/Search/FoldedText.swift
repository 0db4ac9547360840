@_spi(_Unicode) import Swift

/// The words of a text as searches see them: without case and accents, one for each character where a script has no
/// blanks.
public struct FoldedText: Sendable {
    /// A word with its position in the text.
    struct Word: Sendable {
        /// Where it begins in ``FoldedText/bytes``.
        var start: Int
        /// Where it ends there.
        var end: Int
        /// Its range in the text, in bytes.
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

    /// Splits a text into words.
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

    /// Splits a file's content into words; nil when it is no text: not UTF-8, with a NUL, or longer than
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

    /// Adds letters and digits of ASCII.
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

/// What a character is to a search: its letters without case and accents, and whether words go on with it.
///
/// Each character is folded by itself, whatever precedes it: so composed and decomposed text give the same words, and a
/// position in the words is a position in the text.
struct ScalarFolding {
    /// What a character does to the words of a text.
    enum Kind: UInt8 {
        /// It ends a word.
        case separator
        /// It is not there: an accent, a soft hyphen.
        case ignored
        /// Words are made of it.
        case letter
        /// It is a word of its own, since its script has no blanks between words.
        case character
        /// It belongs to what came before it, and makes another word of it.
        case mark
    }

    /// The version of these rules: an index that was made by other rules is rebuilt.
    static let version: Int64 = 1

    let kind: Kind
    let bytes: [UInt8]

    /// Looks a character up.
    static func of(_ scalar: Unicode.Scalar) -> ScalarFolding {
        let value = Int(scalar.value)
        return value < table.count ? table[value] : computed(scalar)
    }

    /// The characters of most texts that have an alphabet.
    private static let table = (UInt32(0)..<0x3200).map { computed(Unicode.Scalar($0) ?? "\u{0}") }

    private static let separator = ScalarFolding(kind: .separator, bytes: [])

    /// Letters that people type instead of an accented one that their keyboard lacks, though Unicode has no such
    /// mapping.
    private static let likened: [Unicode.Scalar: String] = [
        "ø": "o", "ł": "l", "đ": "d", "ð": "d", "ħ": "h", "æ": "ae", "œ": "oe", "þ": "th",
    ]

    /// The katakana of half width from U+FF66 on, as they are otherwise written.
    private static let wideKatakana = Array(
        "ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン\u{3099}\u{309A}"
            .unicodeScalars)

    private static func computed(_ scalar: Unicode.Scalar) -> ScalarFolding {
        switch scalar.value {
        case 0x4E00..<0xA000, 0x20000..<0x32000:
            return ScalarFolding(kind: .character, bytes: Array(String(scalar).utf8))
        case 0xFF01...0xFF5E:
            if let narrow = Unicode.Scalar(scalar.value - 0xFEE0) { return computed(narrow) }
        case 0xFF66...0xFF9F:
            let index = Int(scalar.value - 0xFF66)
            if wideKatakana.indices.contains(index) { return computed(wideKatakana[index]) }
        default: break
        }
        let parts = String(scalar)._nfd.filter { !isAccent($0) }
        guard let first = parts.first else { return ScalarFolding(kind: .ignored, bytes: []) }
        let kind = kind(first)
        if kind == .separator || kind == .ignored { return ScalarFolding(kind: kind, bytes: []) }
        // To upper case first: it makes one of what has several small letters, and two letters of those that are one.
        var folded = ""
        for part in parts {
            for capital in part.properties.uppercaseMapping.unicodeScalars {
                let small = capital.properties.lowercaseMapping
                folded += small.unicodeScalars.first.flatMap { likened[$0] } ?? small
            }
        }
        return ScalarFolding(kind: kind, bytes: Array(folded.utf8))
    }

    private static func isAccent(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // Combining marks of European alphabets, vowels of Hebrew and Arabic, and variation selectors of emoji.
        case 0x300...0x36F, 0x483...0x487, 0x591...0x5C7, 0x64B...0x65F, 0x670, 0x1AB0...0x1AFF, 0x1DC0...0x1DFF,
            0x20D0...0x20FF, 0xFE00...0xFE0F, 0xFE20...0xFE2F:
            true
        default: false
        }
    }

    private static func kind(_ scalar: Unicode.Scalar) -> Kind {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter:
            isCharacter(scalar) ? .character : isFinalJamo(scalar) ? .mark : .letter
        case .decimalNumber, .letterNumber, .otherNumber: .letter
        case .nonspacingMark, .spacingMark, .enclosingMark: .mark
        case .format: .ignored
        case .otherSymbol: .character
        default: .separator
        }
    }

    private static func isCharacter(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // Thai and Lao, Myanmar, the first part of a Hangul syllable, Khmer, kana, Bopomofo, Hangul letters.
        case 0xE00...0xEFF, 0x1000...0x109F, 0x1100...0x115F, 0x1780...0x17FF, 0x3005...0x3007, 0x3040...0x31FF,
            0xA9E0...0xA9FF, 0xAA60...0xAA7F, 0xAC00...0xD7A3:
            true
        default: scalar.properties.isIdeographic
        }
    }

    /// The vowel or the final consonant of a Hangul syllable; all syllables are decomposed.
    private static func isFinalJamo(_ scalar: Unicode.Scalar) -> Bool { (0x1160...0x11FF).contains(scalar.value) }
}
