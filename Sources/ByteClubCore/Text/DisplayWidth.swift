/// How many columns of a terminal a text takes.
public enum DisplayWidth {
    /// The columns of a text without control characters.
    public static func of(_ text: String) -> Int {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
        return text.reduce(0) { $0 + columns($1) }
    }

    /// A text's beginning and end with `…` between, in at most so many columns.
    public static func shortened(_ text: String, to width: Int) -> String {
        if of(text) <= width { return text }
        if width < 1 { return "" }
        var head = ""
        var tail = ""
        var used = 1
        var characters = text[...]
        while let last = characters.last, DisplayWidth.columns(last) + used <= (width + 2) / 2 {
            tail = String(last) + tail
            used += columns(last)
            characters.removeLast()
        }
        for character in characters {
            if used + columns(character) > width { break }
            head.append(character)
            used += columns(character)
        }
        return head + "…" + tail
    }

    static func columns(_ character: Character) -> Int {
        guard let first = character.unicodeScalars.first else { return 0 }
        switch first.value {
        // The pictures that are shown in colour by themselves.
        case 0x2300...0x2BFF where first.properties.isEmojiPresentation: return 2
        case 0x1F000...0x1F2FF where first.properties.isEmojiPresentation: return 2
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
            return 2
        default:
            switch first.properties.generalCategory {
            case .nonspacingMark, .enclosingMark, .format: return 0
            default: return 1
            }
        }
    }
}
