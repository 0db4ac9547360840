import ByteClubCore
import ByteClubMedia
import ByteClubRemotes
import TestSupport
import Testing

@testable import ByteClubCLI

/// Wrong uses of the commands, each with its exit code and what a person is told.
@Suite struct WrongUseTests {
    /// What the server of a use answers.
    enum Server: String, CaseIterable {
        case works, away, full, forbids, signedOut, fails

        /// What every call, or every write, ends with.
        var error: RemoteError? {
            switch self {
            case .works: nil
            case .away: RemoteError(.unreachable, "cannot reach the club at club.example.org: no server is listening there")
            case .full: RemoteError(.overQuota, "the club's storage is full")
            case .forbids: forbidden
            case .signedOut: signedOut
            case .fails: RemoteError(.serverFault, "the club at club.example.org failed", requestID: "7f3a")
            }
        }

        private var forbidden: RemoteError {
            var error = RemoteError(.forbidden, "your role here is viewer; ask an owner for the role editor")
            error.isOfRole = true
            return error
        }

        private var signedOut: RemoteError {
            var error = RemoteError(.unauthorized, "the access token is invalid or revoked; sign in again")
            error.server = "https://club.example.org"
            return error
        }

        /// Whether reading works all the same.
        var refusesWritesAlone: Bool { self == .full || self == .forbids }
    }

    static let uses: [(server: Server, lines: [String])] = [
        (
            .works,
            [
                "notse list", "notes lst", "photos shwo city.jpg", "frobnicate", "help frobnicate",
                "--frobnicate",
                "notes list --josn", "notes list --sort banana", "notes list Trips --sort", "notes show",
                "notes show a.md b.md c.md",
                "notes show nosuch.md", "notes show ..", "notes show /elsewhere/a.md", "notes show Gear",
                "notes show trip.md --rev banana", "notes rm nosuch.md", "notes rm Gear", "notes mv nosuch.md a.md",
                "notes mv trip.md 'Gear/Ideas 166.md'", "notes mv trip.md", "notes history nosuch.md",
                "notes history trip.md --limit banana",
                "notes restore nosuch.md", "notes restore 'Gear/Ideas 166.md'", "notes restore trip.md ffff",
                "notes append photos", "notes search", "notes search ?!", "notes add .byteclubignore.tmp/..",
                "notes edit photos",
                "photos show nosuch.jpg", "photos show nosuch-*.jpg", "photos show city.jpg --as banana",
                "photos show city.jpg --view banana", "photos info nosuch.jpg", "photos info",
                "photos download nosuch.jpg",
                "photos download a.jpg b.jpg -o -", "photos upload nosuch.jpg", "photos upload HOME/no-photo.jpg",
                "photos upload HOME/no-photo.jpg --quality 200", "photos upload HOME/no-photo.jpg --quality banana",
                "photos upload HOME/no-photo.jpg --limit-rate banana",
                "photos upload HOME/no-photo.jpg --progress banana",
                "photos rm nosuch.jpg", "photos history nosuch.jpg", "photos restore nosuch.jpg",
                "photos caption nosuch.jpg hello",
                "photos set-view city.jpg banana", "photos set-view nosuch.jpg sphere",
                "photos thumbnail nosuch.jpg -o x.jpg",
                "photos thumbnail city.jpg --size banana", "photos list --kind banana", "photos list --since banana",
                "photos list --near banana", "restore nosuch --at 1h", "restore --at banana", "restore",
                "share nosuch.md", "share --revoke nosuch", "transfers limit banana", "transfers pause",
                "transfers wait --timeout banana",
                "conflicts resolve trip.md --keep banana", "sync HOME/nosuch/nosuch --once --pull", "sync statsu",

                "why", "log --since banana", "unlink HOME/nosuch", "login banana", "login http://club.example",
                "login https://club.example#banana", "whoami --server banana",
            ]
        ),
        (
            .away,
            [
                "notes list", "notes show trip.md", "photos list", "photos upload HOME/one.jpg HOME/two.jpg",
                "photos rm a.jpg b.jpg", "restore --at 1h",
            ]
        ),
        (
            .full,
            ["notes add new.md", "photos upload HOME/one.jpg", "photos upload HOME/one.jpg HOME/two.jpg HOME/one.jpg"]
        ),
        (
            .forbids,
            ["notes add new.md", "notes rm trip.md 'Gear/Ideas 166.md'", "photos upload HOME/one.jpg HOME/two.jpg"]
        ),
        (.signedOut, ["notes list", "whoami", "photos upload HOME/one.jpg HOME/two.jpg"]),
        (.fails, ["notes list", "photos info city.jpg"]),
    ]

    @Test("each wrong use is told in one line for people, with its exit code")
    func table() async throws {
        var text = ""
        var count = 0
        for (server, lines) in Self.uses {
            for line in lines {
                let (status, told) = try await Self.run(line, server)
                count += 1
                text += "\(server == .works ? "" : "(\(server.rawValue)) ")byteclub \(line)\n"
                text += "  \(status.rawValue)\n" + told.map { "  \($0)\n" }.joined()
                #expect(status != .success, "\(line)")
                Self.check(told, line, server)
            }
        }
        #expect(count >= 60)
        try Golden.check(text, "wrong-uses.txt")
    }

    /// Runs a command line in a world of its own.
    private static func run(
        _ line: String, _ server: Server
    ) async throws -> (status: ByteClubCLI.ExitStatus, told: [String]) {
        let world = try World()
        try await world.put("hello", "/byteclub/trip.md")
        try await world.put("hello", "/byteclub/Gear/Ideas 166.md")
        try await world.put("no photo", "/byteclub/photos/city.jpg")
        try LocalFile.replace(world.home.path + "/no-photo.jpg", with: Array("text".utf8), mode: 0o644)
        for (name, level) in [("one", UInt8(90)), ("two", 120)] {
            let pixels = [UInt8](repeating: level, count: 192)
            let picture = try #require(Picture(width: 8, height: 8, rgb: pixels)).jpeg()
            try LocalFile.replace(world.home.path + "/\(name).jpg", with: picture, mode: 0o644)
        }
        world.server.fault = { operation throws(RemoteError) in
            guard let error = server.error, operation.moment == .before else { return }
            if operation.kind.isWriting || !server.refusesWritesAlone { throw error }
        }
        let home = world.home.path
        let words = Self.words(line).map { $0.replacing("HOME", with: home) }
        var context = world.context(["BYTECLUB_DATA": home], input: "a note\n")
        context.workingDirectory = { home }
        let status = await ByteClub.run(words, in: context)
        // A log of progress is not what is wrong.
        let told = world.err.split(separator: "\n").filter { !$0.hasPrefix("uploaded ") }
            .map { String($0).replacing(home, with: "HOME") }
        return (status, told)
    }

    /// The words of a line as a shell reads them.
    private static func words(_ line: String) -> [String] {
        line.split(separator: "'", omittingEmptySubsequences: false).enumerated().flatMap { index, part in
            index % 2 == 1 ? [String(part)] : part.split(separator: " ").map(String.init)
        }
    }

    /// Holds what was told against what no line may have.
    private static func check(_ told: [String], _ line: String, _ server: Server) {
        #expect(told.count == 1, "\(line): \(told)")
        for text in told {
            #expect(text.hasPrefix("byteclub: ") && !text.hasSuffix("."), "\(text)")
            for word in [
                "GET ", "PUT ", "POST ", "HTTP", "/1/", "answered", "Please", "  ", "RemoteError", "Optional(",
            ] {
                #expect(!text.contains(word), "\(text)")
            }
            let words = text.split { !$0.isLetter && !$0.isNumber }
            for number in ["401", "403", "404", "409", "413", "500", "502", "503", "507"] {
                #expect(!words.contains(number[...]), "\(text)")
            }
            for wrapped in LineWrap.wrapped(text, to: 80).split(separator: "\n") {
                #expect(DisplayWidth.of(String(wrapped)) <= 80, "\(text)")
            }
            // What is printed as a command is closed, and has no quotes within its quotes.
            #expect(text.replacing("'s ", with: "s ").count { $0 == "'" } % 2 == 0 && !text.contains("''"), "\(text)")
        }
        // What is about the server itself fits a line.
        if server == .away, let text = told.first, !text.contains("photos were") {
            #expect(DisplayWidth.of(text) <= 80, "\(text)")
        }
    }
}
