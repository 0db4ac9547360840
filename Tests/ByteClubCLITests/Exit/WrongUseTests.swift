import ByteClubCore
import ByteClubMedia
import MemoryRemote
import TestSupport
import Testing

@testable import ByteClubCLI

/// Wrong uses of the commands, each with its exit code and message.
@Suite struct WrongUseTests {
    /// The behaviour of the server.
    enum Server: String, CaseIterable {
        case works, away, full, forbids, signedOut, fails, noClub

        /// The error of every call, or of every write.
        var error: RemoteError? {
            switch self {
            case .works: nil
            case .away:
                RemoteError(.unreachable, "cannot reach the club at club.example.org: no server is listening")
            case .full: RemoteError(.overQuota, "the club's storage is full")
            case .forbids: forbidden
            case .signedOut: signedOut
            case .noClub: RemoteError(.notFound, "there is no such operation")
            case .fails: RemoteError(.serverFault, "the club at club.example.org failed", requestID: "7f3a")
            }
        }

        private var forbidden: RemoteError {
            var error = RemoteError(.forbidden, "your role here is viewer; ask an owner for the editor role")
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
                "notes history Gear", "members frob", "members lst", "notes history trip.md --limit banana",
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
            ] + notes + photos + mirrors + settings
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
        (.noClub, ["login http://127.0.0.1:1/gallery --token-stdin < HOME/note.txt"]),
    ]

    /// Names, files and input that no note can have.
    private static let notes = [
        "notes list trip.md", "notes add ''", "notes add 'a\\x07b.md'", "notes add 'a\\x0ab.md'", "notes add /a.md",
        "notes add \(String(repeating: "x", count: 300)).md", "notes add photos/a.jpg", "notes add a.md HOME/one.jpg",
        "notes add a.md < HOME/one.jpg", "notes add a.md HOME/folder", "notes add a.md HOME/nosuch",
        "notes add a.md https://club.example/a.md", "notes add trip.md", "notes add trip.md/below.md",
        "notes add trip.md HOME/note.txt more", "notes append photos/a.jpg", "notes append ''",
        "notes show 'tr\\x1bip.md'", "notes show https://club.example/trip.md", "notes show trip.md --rev ''",
        "notes mv trip.md photos/x.jpg", "notes mv trip.md ..", "notes mv trip.md ''", "notes rm /", "notes rm ''",
        "notes history trip.md --limit 0", "notes history trip.md --limit 9999999999999999999999",
        "notes history trip.md --limit -1", "notes search ''", "notes edit ''", "notes restore trip.md ''",
    ]

    /// Files that are no photos, options that exclude each other, and values that cannot be.
    private static let photos = [
        "photos upload", "photos upload ''", "photos upload HOME/folder", "photos upload HOME/empty",
        "photos upload HOME/cut.jpg", "photos upload /dev/null", "photos upload https://club.example/a.jpg",
        "photos upload HOME/one.jpg --album ''", "photos upload HOME/one.jpg --album ..",
        "photos upload HOME/one.jpg --album 'a\\x07b'", "photos upload HOME/one.jpg --limit-rate 0",
        "photos upload HOME/one.jpg --limit-rate 99999999999999999999G",
        "photos upload HOME/one.jpg --unmetered-only", "photos download",
        "photos download city.jpg -o HOME/nosuch/x.jpg", "photos download city.jpg -o HOME/note.txt",
        "photos download city.jpg -o HOME/note.txt/x", "photos download city.jpg -o ''",
        "photos download city.jpg -o - --json", "photos download a.jpg b.jpg -o HOME/x.jpg",
        "photos download ../trip.md", "photos show trip.md", "photos show city.jpg --view 0,95",
        "photos show city.jpg --view 1,2,3,4", "photos mv city.jpg", "photos mv city.jpg ../x.jpg",
        "photos mv city.jpg ''", "photos rm ''", "photos rm ../trip.md", "photos set-view city.jpg Sphere",
        "photos list nosuch", "photos list --since 2026-13-45", "photos list --since 2026-12-01 --until 2026-01-01",
        "photos list --near 95,7", "photos list --near 46,7,-1", "photos albums more", "photos open nosuch.jpg",
        "open nosuch", "share ''", "share trip.md --expires banana", "share trip.md --expires 9999y",
        "share trip.md --list --revoke trip.md", "share --expires 2d", "share .. --expires 2d",
        "restore --at 2099-01-01", "restore trip.md --at 2026-02-30", "restore '' --at 1h", "restore .. --at 1h",
    ]

    /// Invalid places for mirrors, and commands that need a mirror.
    private static let mirrors = [
        "sync ''", "sync /", "sync HOME/note.txt --once", "sync HOME/nosuch/x/y --once",
        "sync https://club.example --once", "sync HOME/folder more", "sync HOME/folder --once --install",
        "sync HOME/folder --limit-up banana --once", "sync HOME/folder --schedule banana --once",
        "sync HOME/folder --folder .. --once", "sync pause", "sync pause --for banana", "sync pause --for 0",
        "sync resume HOME/folder", "sync verify HOME/folder", "sync revert --dry-run", "sync deselect",
        "sync select photos", "sync deletes approve", "status", "status HOME/folder more", "why nosuch",
        "conflicts list a b", "conflicts show nosuch", "conflicts resolve trip.md", "mirrors more", "unlink",
        "unlink HOME/note.txt", "log --limit 0", "log --club --limit x", "log --club --limit 0",
    ]

    /// Missing and invalid settings and logins, and other mistakes.
    private static let settings = [
        "BYTECLUB_SERVER= notes list", "BYTECLUB_TOKEN= notes list", "BYTECLUB_SERVER=banana notes list",
        "BYTECLUB_SERVER=ftp://club.example notes list", "BYTECLUB_TOKEN='a b' notes list",
        "BYTECLUB_FOLDER=.. notes list", "BYTECLUB_FOLDER=/ notes list", "BYTECLUB_CA_FILE=HOME/nosuch notes list",
        "BYTECLUB_PIN=banana notes list", "BYTECLUB_INSECURE_HTTP=perhaps notes list",
        "BYTECLUB_LIMIT_RATE=banana photos upload HOME/one.jpg", "BYTECLUB_LIMIT_UP=banana sync HOME/folder --once",
        "BYTECLUB_SCHEDULE=banana sync HOME/folder --once", "BYTECLUB_NOTIFY=banana sync HOME/folder --once",
        "BYTECLUB_METERED=banana sync HOME/folder --once",
        "XDG_CONFIG_HOME=HOME/set/unknown notes list", "XDG_CONFIG_HOME=HOME/set/nameless notes list",
        "XDG_CONFIG_HOME=HOME/set/token notes list", "XDG_CONFIG_HOME=HOME/set/flag notes list",
        "XDG_CONFIG_HOME=HOME/set/metered sync HOME/folder --once",
        "XDG_CONFIG_HOME=HOME/set/bytes notes list", "XDG_CONFIG_HOME=HOME/set/folder notes list",
        "XDG_CONFIG_HOME=HOME/set/rate photos upload HOME/one.jpg",
        "XDG_CONFIG_HOME=HOME/set/broken BYTECLUB_TOKEN= notes list", "notes list --ca-file HOME/nosuch",
        "notes list --pin sha256//x", "login ''", "login ftp://127.0.0.1", "login HOME/note.txt",
        "login http://ann:x@127.0.0.1", "login http://127.0.0.1:99999", "login 'http://127.0.0.1/\\x1b[31m'",
        "login http://127.0.0.1:1 --token-stdin < HOME/empty", "login http://127.0.0.1:1 --token-stdin < HOME/bytes",
        "login http://127.0.0.1:1", "password --password-stdin < HOME/empty", "logout more", "whoami more",
        "doctor more", "completion tcsh", "transfers cancel", "transfers resume nosuch", "transfers wait --timeout 0",
        "transfers limit 'mon-fri 25:00-17:00 pause'", "transfers limit 'mon-fri 9:00-17:00'",
        "daemon --stop --install", "daemon banana",
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
        #expect(count >= 150)
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
        let home = world.home.path
        try furnish(home)
        let before = (tree: FileTree(home), entries: try await entries(world))
        world.server.fault = { operation throws(RemoteError) in
            guard let error = server.error, operation.moment == .before else { return }
            if operation.kind.isWriting || !server.refusesWritesAlone { throw error }
        }
        let use = WrongUse(line, home: home)
        let input = use.input.map { Fixture.bytes(at: $0) } ?? Array("a note\n".utf8)
        var context = world.context(use.environment.merging(["BYTECLUB_DATA": home]) { $1 })
        context.input = Input(readAll: { _ in input }, readSecret: { _ in "" })
        context.workingDirectory = { home }
        let status = await ByteClub.run(use.words, in: context)
        world.server.fault = nil
        #expect(try await entries(world) == before.entries, "\(line) has changed what the club has")
        // Downloads and transfers make the folder for their records.
        let changed = FileTree(home).difference(from: before.tree).filter { !$0.hasPrefix(".local") }
        #expect(changed.isEmpty, "\(line) has changed files")
        // A log of progress is not an error.
        let told = world.err.split(separator: "\n").filter { !$0.hasPrefix("uploaded ") }
            .map { String($0).replacing(home, with: "HOME") }
        return (status, told)
    }

    /// Creates the files that wrong uses name.
    private static func furnish(_ home: String) throws {
        let files = [
            "no-photo.jpg": "text", "note.txt": "text", "empty": "", "bytes": "a\0b\n",
            "set/unknown/byteclub/config":
                "colour = red\n", "set/nameless/byteclub/config": "server\n",
            "set/token/byteclub/config": "token = x\n", "set/flag/byteclub/config": "notify = maybe\n",
            "set/bytes/byteclub/config": "\0\u{1}\n", "set/rate/byteclub/config": "limit-rate = fast\n",
            "set/metered/byteclub/config": "# mine\nmetered = sometimes\n", "set/broken/byteclub/credentials": "{",
        ]
        for (name, text) in files { try LocalFiles.write(text, to: home + "/" + name) }
        for name in ["folder", "set/folder/byteclub/config"] { LocalFiles.makeFolder(home + "/" + name) }
        for (name, level) in [("one", UInt8(90)), ("two", 120)] {
            let pixels = [UInt8](repeating: level, count: 192)
            let picture = try #require(Picture(width: 8, height: 8, rgb: pixels)).jpeg()
            try LocalFiles.write(picture, to: home + "/\(name).jpg")
            if name == "one" { try LocalFiles.write(Array(picture.prefix(100)), to: home + "/cut.jpg") }
        }
    }

    /// The club's entries, with revisions.
    private static func entries(_ world: World) async throws -> [Metadata] {
        try await FolderListing(isRecursive: true).entries(of: RemotePath("/byteclub"), world.server) ?? []
    }

    /// Checks messages against rules for every line.
    private static func check(_ told: [String], _ line: String, _ server: Server) {
        let objections = WrongUse.objections(to: told)
        #expect(objections.isEmpty, "\(line): \(objections) in \(told)")
        // A message about the server itself fits on one line.
        if server == .away, let text = told.first, !text.contains("photos were") {
            #expect(DisplayWidth.of(text) <= 80, "\(text)")
        }
    }
}
