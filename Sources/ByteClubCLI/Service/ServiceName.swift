import ByteClubCore

/// Names and words in systemd's syntax.
enum ServiceName {
    /// The unit that syncs a mirror, named by its absolute path as `systemd-escape --path` does.
    static func unit(for directory: String) -> String {
        let name = escaped(path: directory)
        // A file's name has 255 bytes at most.
        let short =
            name.utf8.count <= 200 ? name : "\(ContentHasher.hash(Array(directory.utf8)))".prefix(32).description
        return "byteclub-sync-\(short).service"
    }

    /// A path as part of a unit's name.
    static func escaped(path: String) -> String {
        let trimmed = path.split(separator: "/").joined(separator: "/")
        if trimmed.isEmpty { return "-" }
        var text = ""
        for (index, byte) in trimmed.utf8.enumerated() {
            switch byte {
            case UInt8(ascii: "/"): text += "-"
            case 48...57, 65...90, 97...122, UInt8(ascii: ":"), UInt8(ascii: "_"): text.append(Character(.init(byte)))
            case UInt8(ascii: ".") where index > 0: text += "."
            default: text += "\\x" + hexadecimal(byte)
            }
        }
        return text
    }

    /// A text quoted as one word of a unit's command line or assignment, without expansions.
    static func word(_ text: String) -> String {
        var word = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": word += "\\" + String(scalar)
            case "%": word += "%%"
            case "$": word += "$$"
            default:
                let isControl = scalar.value < 0x20 || scalar.value == 0x7F
                word += isControl ? "\\x" + hexadecimal(UInt8(scalar.value)) : String(scalar)
            }
        }
        return word + "\""
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
}
