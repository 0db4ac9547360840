import TestSupport

/// The options of a run.
struct Settings: Sendable {
    /// An empty folder on the file system to measure on.
    var work = ""
    /// The cases to run; when empty, all but `million`, which needs minutes and millions of files.
    var only: Set<String> = []
    /// How often each contestant runs; medians are printed.
    var rounds = 3
    /// The number of notes of about 1.5 KiB.
    var notes = 10_000
    /// A larger number of notes, for cases with a single round.
    var many = 100_000
    /// The length of the large file in MiB.
    var mebibytes = 1024
    /// The number of edits timed.
    var edits = 100
    /// A folder of texts to search; nil for generated notes.
    var corpus: String?
    /// The folder of `Config/fetch-fixtures photos`; nil when there is none.
    var photos: String?
    /// The folder of the programs of `Tests/HTTPPeers`; nil when there is none.
    var peers: String?
    /// Conditions to mention in titles, for example the link's rate.
    var label = ""

    struct UsageError: Error, CustomStringConvertible {
        let description: String
    }

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let flag = rest.popFirst() {
            guard let value = rest.popFirst() else { throw UsageError(description: "\(flag) needs a value") }
            switch flag {
            case "--work": work = value
            case "--only": only = Set(value.split(separator: ",").map(String.init))
            case "--rounds": rounds = try Self.number(value)
            case "--notes": notes = try Self.number(value)
            case "--many": many = try Self.number(value)
            case "--mebibytes": mebibytes = try Self.number(value)
            case "--edits": edits = try Self.number(value)
            case "--corpus": corpus = value
            case "--photos": photos = value
            case "--peers": peers = value
            case "--label": label = " (\(value))"
            default: throw UsageError(description: "there is no flag \(flag)")
            }
        }
        if work.isEmpty { throw UsageError(description: "--work DIR is missing") }
    }

    /// Whether to run a case.
    func runs(_ name: String) -> Bool { only.isEmpty ? name != "million" : only.contains(name) }

    private static func number(_ text: String) throws -> Int {
        guard let number = Int(text), number > 0 else { throw UsageError(description: "'\(text)' is not a number") }
        return number
    }

    /// An empty folder for one round, removed by ``discard(_:)``.
    func folder(_ name: String) -> String {
        let path = work + "/" + name
        TemporaryDirectory.remove(path)
        LocalFiles.makeFolder(path)
        return path
    }

    func discard(_ path: String) { TemporaryDirectory.remove(path) }
}
