import FoundationEssentials
import Glibc

/// Something that ends the program, with one line for people and an exit code of sysexits.h.
struct Failure: Error {
    enum Code: Int32 {
        case badUsage = 64
        case badData = 65
        case noInput = 66
        case unavailable = 69
        case software = 70
        case cannotCreate = 73
        case inputOutput = 74
        case partlyDone = 75
    }

    var code: Code
    var message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension String {
    /// The text in one line, without what a terminal would obey.
    var printable: String {
        let scalars = unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }
        return String(String.UnicodeScalarView(scalars)).split(separator: " ").joined(separator: " ")
    }

    /// The text as a name that a file can have in any folder: at most 150 bytes, not hidden, in no other folder.
    var fileName: String {
        // As a character a slash with an accent on it is none, but the system sees the slash.
        let safe = printable.unicodeScalars.drop { $0 == "." }
            .map { "/\\:*?\"<>|".unicodeScalars.contains($0) ? "-" : $0 }
        let name = String(String.UnicodeScalarView(safe)).prefix(bytes: 150)
        return name.isEmpty ? "episode" : name
    }

    /// The whole characters at the beginning that have at most so many bytes.
    func prefix(bytes: Int) -> String {
        var rest = self[...]
        while rest.utf8.count > bytes { rest.removeLast() }
        return String(rest)
    }
}

/// `12.3 MB`.
func size(_ bytes: Double) -> String {
    guard bytes >= 1_000 else { return "\(Int(bytes)) bytes" }
    let (unit, name) = bytes < 1e6 ? (1e3, "kB") : bytes < 1e9 ? (1e6, "MB") : (1e9, "GB")
    return "\((bytes / unit * 10).rounded() / 10) \(name)"
}

/// `12.3% of 3.4 MB`, or how much there is while nobody knows of how much.
func progress(_ bytes: Double, of total: Double?) -> String {
    guard let total, total > 0 else { return size(bytes) }
    return "\((bytes / total * 1000).rounded() / 10)% of \(size(total))"
}

/// Prints a line about what happens to standard error; standard output is for results alone.
func tell(_ line: String) { writeToErrors(line.printable + "\n") }

/// Prints as it is.
func writeToErrors(_ text: String) {
    var text = text
    _ = text.withUTF8 { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
}

/// Prints results: all at once, so that a program that is killed has printed what it did.
func show(_ line: String) {
    print(line)
    fflush(nil)
}

/// Prints results for scripts.
func show(json value: some Encodable) throws {
    show(String(decoding: try JSONEncoder.dates.encode(value), as: UTF8.self))
}
