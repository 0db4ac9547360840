import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubCLI

@Suite struct SettingsTests {
    @Test("flags beat the environment, the environment beats the file, the file beats what is stored")
    func precedence() throws {
        let world = try World()
        let directories = Directories(environment: ["HOME": world.home.path])
        try LocalFile.makePrivateDirectory(directories.configuration)
        try LocalFile.replace(
            directories.settingsFile,
            with: Array("# mine\nserver = https://file.example\nfolder=/file\n limit-rate = 1K \n".utf8))
        var context = world.context()
        context.environment = ["HOME": world.home.path]
        let fromFile = try context.settings(flags: Settings())
        #expect(fromFile.server == "https://file.example")
        #expect(fromFile.folder == "/file")
        #expect(fromFile.rateLimit == "1K")
        context.environment["BYTECLUB_FOLDER"] = "/environment"
        context.environment["BYTECLUB_SERVER"] = "https://environment.example"
        #expect(try context.settings(flags: Settings()).folder == "/environment")
        var flags = Settings()
        flags.folder = "/flag"
        let settings = try context.settings(flags: flags)
        #expect(settings.folder == "/flag")
        #expect(settings.server == "https://environment.example")
        #expect(settings.rateLimit == "1K")
    }

    @Test("limits and schedule come from flags, environment and file, in this order")
    func pace() throws {
        let file = "limit-up = 500K\nlimit-down = 1M\nschedule = sat,sun pause"
        var flags = Settings()
        flags.schedule = "9:00-17:00 limit 2K"
        var settings = flags.over(try Settings(environment: ["BYTECLUB_LIMIT_DOWN": "2M"]))
        settings = settings.over(try Settings(file: file, path: "config"))
        var configuration = SyncConfiguration(directory: "/club", stateDirectory: "/state")
        try configuration.setPace(settings)
        #expect(configuration.uploadLimit == 512_000 && configuration.downloadLimit == 2 << 20)
        #expect(configuration.schedule.spans.first?.rule == .limit(2_048))
        settings.uploadLimit = "fast"
        #expect(throws: Failure.self) { try configuration.setPace(settings) }
        (settings.uploadLimit, settings.schedule) = (nil, "never pause")
        #expect(throws: SyncError.self) { try configuration.setPace(settings) }
    }

    @Test("what a metered network means is read in any case of letters", arguments: [("wait", true), ("Use", false)])
    func metered(_ value: String, _ waits: Bool) throws {
        #expect(try Settings(file: "metered = \(value)", path: "config").waitsForUnmetered == waits)
        #expect(try Settings(environment: ["BYTECLUB_METERED": value]).waitsForUnmetered == waits)
        #expect(throws: Failure.self) { try Settings(environment: ["BYTECLUB_METERED": "true"]) }
    }

    @Test(
        "a settings file that makes no sense is told with its line",
        arguments: [
            ("server", ":1:"), ("\nserver = x\ncolour = red", ":3:"), ("insecure-http = maybe", "config:1"),
            ("token = abc", "byteclub login"),
            ("metered = maybe", "'maybe' for metered in config:1; must be use or wait"),
        ])
    func broken(_ text: String, _ hint: String) {
        do throws(Failure) {
            do { _ = try Settings(file: text, path: "config") } catch { throw Failure(error) }
            Issue.record("it was taken")
        } catch {
            #expect(error.status == .configuration)
            #expect(error.message.contains(hint), "\(error.message)")
        }
    }

    @Test("a stored token goes to no other server than its own")
    func tokenStaysHome() throws {
        var settings = Settings()
        settings.server = "https://other.example"
        let credentials = Credentials(server: "https://club.example", token: "abc", member: "ada")
        #expect(throws: Failure.self) { try Login(settings: settings, credentials: credentials) }
        settings.server = "https://CLUB.example/"
        #expect(try Login(settings: settings, credentials: credentials).token == "abc")
    }

    @Test("a token that could smuggle a header is refused", arguments: ["a b", "a\nX: y", "", " ", "ä", "a\u{0}b"])
    func token(_ text: String) {
        #expect(throws: Failure.self) { try Token.check(text, "the token") }
    }

    @Test("a token keeps its characters and loses the line end")
    func tokenTrimmed() throws {
        #expect(try Token.check("aZ9-._~+/=\r\n", "it") == "aZ9-._~+/=")
    }
}

@Suite struct ServerAddressTests {
    @Test(
        "addresses are read",
        arguments: [
            ("https://Club.Example", "https://club.example"), ("https://club.example/", "https://club.example"),
            ("HTTP://127.0.0.1:8080", "http://127.0.0.1:8080"), ("http://[::1]:80/", "http://[::1]:80"),
            ("http://localhost:1", "http://localhost:1"), ("club.example", "https://club.example"),
            ("127.0.0.1:8443", "https://127.0.0.1:8443"), ("https://h/Club/v", "https://h/Club/v"),
        ])
    func reads(_ text: String, _ origin: String) throws {
        #expect(try ServerAddress(text, allowsInsecureHTTP: false).origin == origin)
    }

    @Test(
        "what is no address is refused",
        arguments: [
            "", "club", "user:secret@club.example", "ftp://club.example", "https://", "https://a:b", "https://a:0",
            "https://a:70000",
            "https://u:p@a", "https://a b", "https://a?x", "https://a#x", "https://[::1", "https://a\nb", "https://a/ä",
        ])
    func refuses(_ text: String) {
        #expect(throws: Failure.self) { try ServerAddress(text, allowsInsecureHTTP: true) }
    }

    @Test(
        "http to another machine needs a word",
        arguments: ["http://club.example", "http://10.0.0.1", "http://127.0.0.1.example", "http://128.0.0.1"])
    func insecure(_ text: String) throws {
        #expect(throws: Failure.self) { try ServerAddress(text, allowsInsecureHTTP: false) }
        _ = try ServerAddress(text, allowsInsecureHTTP: true)
    }
}
