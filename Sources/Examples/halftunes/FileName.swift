/// The name of a track's file: one that every file system takes and that no other track has.
struct FileName {
    var text: String

    init(of track: Track, at address: String) {
        // As a character a slash with an accent on it is none, but the system sees the slash.
        let title = String(String.UnicodeScalarView(track.title.unicodeScalars.map { $0 == "/" ? "-" : $0 })).trimmed
        // A name is 255 bytes at most, and the download has names that are a little longer until it is done.
        let name = title.prefix(bytes: 180).trimmed
        text = "\(name.isEmpty ? "Track" : name) [\(track.trackId)].\(Self.ending(of: address))"
    }

    /// The ending of the file that an address names, or that of the previews of the iTunes Store.
    private static func ending(of address: String) -> String {
        let file = address.prefix { $0 != "?" && $0 != "#" }.split(separator: "/").last ?? ""
        let parts = file.split(separator: ".")
        guard parts.count > 1, let ending = parts.last, ending.utf8.count <= 4,
            ending.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) })
        else { return "m4a" }
        return ending.lowercased()
    }
}

extension String {
    /// The whole characters at the beginning that have at most so many bytes.
    func prefix(bytes: Int) -> String {
        var rest = self[...]
        while rest.utf8.count > bytes { rest.removeLast() }
        return String(rest)
    }

    /// Without blanks around it, and without the dots before it that would hide a file or name a folder.
    fileprivate var trimmed: String {
        var text = unicodeScalars[...]
        while let first = text.first, first.properties.isWhitespace || first == "." { text.removeFirst() }
        while text.last?.properties.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
