import ByteClubCore
import ByteClubHTTP
import Foundation
import Glibc
import TestSupport
import Testing

@testable import ByteClubCLI
@testable import ByteClubSync

@Suite struct DoctorTests {
    private static let account = #"{"uid":1,"display_name":"Ann","quota_info":{"quota":9,"normal":1,"shared":0}"#

    /// A world whose server answers the probe as given.
    private func context(
        _ world: World, status: Int = 200, date: Int64? = 1_000_000, body: String? = nil,
        error: TransferError? = nil
    ) -> Context {
        var context = world.context()
        let text = body ?? Self.account + #","byteclub":{"version":1,"conditional_delete":true}}"#
        context.now = { 1_000_000 }
        context.connector.probe = { _ in
            if let error { throw error }
            return ServerProbe(
                status: status, date: date.map { APIDate(seconds: $0) }, body: Array(text.utf8), seconds: 0.0031)
        }
        return context
    }

    private func outcomes(_ world: World) throws -> [String: (outcome: String, message: String, advice: String?)] {
        let object = try JSONSerialization.jsonObject(with: Data(world.outBytes)) as? [String: Any]
        let checks = try #require(object?["checks"] as? [[String: Any]])
        var found: [String: (outcome: String, message: String, advice: String?)] = [:]
        for check in checks {
            let name = try #require(check["check"] as? String)
            found[name] = (
                try #require(check["outcome"] as? String), try #require(check["message"] as? String),
                check["advice"] as? String
            )
        }
        return found
    }

    @Test("a set-up that works is all ok, one line a check, and exit 0")
    func healthy() async throws {
        let world = try World()
        for name in ["a.md", "Trips/b.md", "Trips/2026/c.md", "photos/d.jpg"] {
            try await world.put("text", "/byteclub/" + name)
        }
        let context = context(world)
        #expect(await world.run("doctor", in: context) == .success)
        let lines = world.out.split(separator: "\n")
        #expect(lines.count == 11 && !world.out.contains("fail"), "\(world.out)")
        #expect(world.out.contains("http://127.0.0.1:1 answers in 3 ms"))
        #expect(world.out.contains("you are Ann; the server supports Core API v1 and extension 1"))
        #expect(world.out.contains("/byteclub has 3 notes"))
        #expect(!world.out.contains("secret-token") && world.err.isEmpty)
        #expect(await world.run("notes", "list", "--recursive", in: context) == .success)
        #expect(world.out.split(separator: "\n").count == 3, "doctor counts what the list lists")
        #expect(await world.run("doctor", "--json", in: context) == .success)
        #expect(try outcomes(world)["account"]?.outcome == "ok")
    }

    @Test("the server's answer decides what is said and with which code")
    func answers() async throws {
        for (status, body, code, advice) in [
            (401, nil, .notAuthorised, "byteclub login"), (403, nil, .notAuthorised, "byteclub login"),
            (404, nil, .protocolViolation, "address"), (200, "<html>", .protocolViolation, "address"),
            (200, "{}", .protocolViolation, "address"), (500, nil, .tryAgain, "log"), (503, nil, .tryAgain, "later"),
            (200, Self.account + "}", .success, "byteclub-server"),
        ] as [(Int, String?, ByteClubCLI.ExitStatus, String)] {
            let world = try World()
            let result = await world.run("doctor", "--json", in: context(world, status: status, body: body))
            #expect(result == code, "\(status) \(world.out)")
            let account = try #require(try outcomes(world)["account"])
            #expect(account.outcome == (code == .success ? "warn" : "fail"))
            #expect(account.advice?.contains(advice) == true, "\(account)")
        }
    }

    @Test("the account's line names the club where the server tells its name, on one line")
    func clubName() async throws {
        for (club, shown) in [("Panorama Club", "Panorama Club"), (#"a\u001b[2J\u202e\n"#, "a^[[2J<U+202E> ")] {
            let world = try World()
            let body = Self.account + #","byteclub":{"version":1,"club":"\#(club)"}}"#
            #expect(await world.run("doctor", in: context(world, body: body)) == .success)
            #expect(world.out.contains("you are Ann of \(shown); the server supports"), "\(world.out)")
        }
    }

    @Test("clocks that differ are warned of, and over five minutes fail")
    func clock() async throws {
        for (skew, outcome) in [(0, "ok"), (-29, "ok"), (31, "warn"), (-300, "warn"), (301, "fail"), (-9999, "fail")] {
            let world = try World()
            let result = await world.run("doctor", "--json", in: context(world, date: 1_000_000 - Int64(skew)))
            let clock = try #require(try outcomes(world)["clock"])
            #expect(clock.outcome == outcome && (result == .success) == (outcome != "fail"), "\(skew)")
            if outcome != "ok" { #expect(clock.message.contains(skew < 0 ? "behind" : "ahead")) }
        }
        #expect(
            [1, 31, 301, 9_999, 259_200].map(Checkup.words) == [
                "1 second", "31 seconds", "5 minutes", "2 hours", "3 days",
            ])
        let world = try World()
        #expect(await world.run("doctor", "--json", in: context(world, date: nil)) == .success)
        #expect(try outcomes(world)["clock"] == nil)
    }

    @Test("without a login, with loose credentials and with a bad settings file it says what to do")
    func login() async throws {
        let world = try World()
        var context = context(world)
        context.environment = ["HOME": world.home.path]
        #expect(await world.run("doctor", "--json", in: context) == .configuration)
        var found = try outcomes(world)
        #expect(found["login"]?.advice?.contains("byteclub login") == true && found["server"] == nil)
        #expect(found["disk"] != nil && found["watches"] != nil)
        let store = context.credentials
        try store.save(Credentials(server: "http://127.0.0.1:1", token: "t", member: "Ann"))
        #expect(await world.run("doctor", "--json", in: context) == .success, "\(world.out)")
        unsafe chmod(store.path, 0o644)
        #expect(await world.run("doctor", "--json", in: context) == .configuration)
        found = try outcomes(world)
        #expect(found["login"]?.advice?.contains("chmod 600") == true)
        unsafe chmod(store.path, 0o600)
        try LocalFile.replace(context.directories.settingsFile, with: Array("sever = x\n".utf8))
        #expect(await world.run("doctor", "--json", in: context) == .configuration)
        #expect(try outcomes(world)["settings"]?.message.contains("sever") == true)
        try LocalFile.replace(context.directories.settingsFile, with: Array("folder = /byteclub\n".utf8), mode: 0o666)
        unsafe chmod(context.directories.settingsFile, 0o666)
        #expect(await world.run("doctor", "--json", in: context) == .success)
        #expect(try outcomes(world)["settings"]?.outcome == "warn")
    }

    @Test("the program that keeps mirrors knows itself, and warns of nothing")
    func itself() async throws {
        let world = try World()
        var context = context(world)
        let program = world.home.path + "/byteclub-mirror"
        try LocalFile.replace(program, with: [], mode: 0o755)
        context.executable = program
        for engine in [context.engine, nil] {
            context.engine = engine
            #expect(await world.run("doctor", "--json", in: context) == .success)
            let found = try outcomes(world)["programs"]
            #expect(found?.outcome == (engine == nil ? "warn" : "ok"))
            #expect(found?.message.hasSuffix(", byteclub-mirror") == (engine != nil))
        }
    }

    @Test("a mirror that is gone fails, and one that is there is told")
    func mirror() async throws {
        let world = try World()
        let context = context(world)
        #expect(await world.run("doctor", "--json", in: context) == .success)
        #expect(try outcomes(world)["mirror"]?.message.contains("byteclub sync DIR") == true)
        let directory = world.home.path + "/club"
        try LocalFile.makePrivateDirectory(context.directories.mirrors)
        let place = try MirrorPlace(directory, context)
        try place.prepare(SyncEngine.self, isDryRun: false)
        try place.remember(SyncEngine.self)
        #expect(await world.run("doctor", "--json", in: context) == .success)
        #expect(try outcomes(world)["mirror"]?.message.contains(directory) == true)
        unsafe rmdir(directory)
        #expect(await world.run("doctor", "--json", in: context) == .noInput)
        #expect(try outcomes(world)["mirror"]?.outcome == "fail")
    }
}
