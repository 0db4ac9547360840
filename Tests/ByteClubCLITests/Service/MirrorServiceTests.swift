import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubCLI

/// The systemd user service of a mirror, with a substitute for systemctl that records its calls.
@Suite struct MirrorServiceTests {
    private let world: World
    private let mirror: String
    private let unit: String
    private let systemctl: SystemctlStandIn

    init() async throws {
        world = try World()
        mirror = world.home.path + "/my club"
        unit = ServiceName.unit(for: mirror)
        systemctl = try await SystemctlStandIn(in: world.home.path)
        try world.context().credentials.save(
            Credentials(server: "http://127.0.0.1:1", token: "stored-token", member: "ada"))
    }

    private var path: String { world.home.path + "/.config/systemd/user/" + unit }

    private func context(_ more: [String: String] = [:]) -> Context {
        var context = world.context(["PATH": systemctl.folder + ":/usr/bin:/bin"].merging(more) { $1 })
        context.executable = "/opt/100% club/byteclub-mirror"
        return context
    }

    @Test("a service is written, started, left alone the second time, and removed")
    func life() async throws {
        let context = context(["XDG_STATE_HOME": world.home.path + "/state"])
        #expect(await world.run("sync", mirror, "--install", in: context) == .success, "\(world.err)")
        #expect(world.out.hasPrefix("\(mirror) is synced by \(unit) while you are logged in\n"))
        #expect(LocalFile.isDirectory(mirror))
        let text = String(decoding: try LocalFile.read(path), as: UTF8.self)
        try Golden.check(text.replacing(world.home.path, with: "/home/ada"), "service.txt")
        #expect(!text.contains("token"))
        #expect(
            try systemctl.asked() == ["--user show-environment", "--user daemon-reload", "--user enable --now \(unit)"])

        #expect(await world.run("sync", mirror, "--install", "--json", in: context) == .success)
        #expect(world.out.contains(#""isChanged" : false"#) && world.out.contains(#""isInstalled" : true"#))
        #expect(try systemctl.asked() == ["--user show-environment", "--user enable --now \(unit)"])

        let changed = await world.run(
            "sync", mirror, "--install", "--folder", "/other", "--limit-up", "2M", "--unmetered-only", in: context)
        #expect(changed == .success, "\(world.err)")
        let other = String(decoding: try LocalFile.read(path), as: UTF8.self)
        #expect(other.contains(#""--folder" "/other" "--limit-up" "2097152" "--unmetered-only""#), "\(other)")
        #expect(try systemctl.asked().suffix(2) == ["--user enable --now \(unit)", "--user restart \(unit)"])

        #expect(await world.run("sync", mirror, "--uninstall", in: context) == .success, "\(world.err)")
        #expect(!LocalFile.exists(path))
        #expect(try systemctl.asked().suffix(2) == ["--user disable --now \(unit)", "--user daemon-reload"])
        #expect(await world.run("sync", mirror, "--uninstall", in: context) == .success)
        #expect(world.out == "no service for \(mirror)\n")
        #expect(try systemctl.asked().isEmpty)
    }

    @Test("where no systemd answers, one line says what to do, and nothing is written")
    func noSystemd() async throws {
        try await systemctl.become("echo 'Failed to connect to bus: No medium found' >&2; exit 1")
        #expect(await world.run("sync", mirror, "--install", in: context()) == .configuration)
        #expect(
            world.err == "byteclub: your user systemd does not respond (Failed to connect to bus: No medium found); "
                + "run byteclub sync '\(mirror)' in your own session, or from cron at @reboot\n")
        #expect(!LocalFile.exists(world.home.path + "/.config/systemd"))
        #expect(!LocalFile.exists(mirror))
        let none = context(["PATH": world.home.path])
        #expect(await world.run("sync", mirror, "--install", in: none) == .configuration)
        #expect(world.err.hasPrefix("byteclub: systemd is not available; run byteclub sync "))
    }

    @Test("a service that cannot be started leaves everything as it was")
    func failure() async throws {
        try await systemctl.become("case \"$*\" in *enable*) echo 'Unit is masked.' >&2; exit 1;; esac")
        #expect(await world.run("sync", mirror, "--install", in: context()) == .tryAgain)
        #expect(world.err == "byteclub: 'systemctl --user enable --now \(unit)' failed: Unit is masked.\n")
        #expect(!LocalFile.exists(path))
        try await systemctl.become("exit 0")
        #expect(await world.run("sync", mirror, "--install", in: context()) == .success)
        let before = try LocalFile.read(path)
        try await systemctl.become("case \"$*\" in *restart*) exit 1;; esac")
        #expect(await world.run("sync", mirror, "--install", "--folder", "/other", in: context()) == .tryAgain)
        #expect(try LocalFile.read(path) == before)
    }

    @Test("a directory's name takes no line of its unit away", arguments: ["\\", "\\\\", "a\\b\\\\\\", "\\e\u{301}\\"])
    func backslashes(name: String) {
        let unit = ServiceUnit(directory: "/home/ada/" + name, program: "/bin/x", options: [], variables: [])
        // As systemd reads it: a backslash that no other one escapes joins the next line to its own.
        let comments = unit.text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        for line in comments {
            let escapes = line.unicodeScalars.reduce(false) { isEscaped, scalar in !isEscaped && scalar == "\\" }
            #expect(!escapes, "\(line)")
        }
        #expect(unit.text.contains("\nStartLimitIntervalSec=0\n"))
    }

    @Test("a token that is only in the environment is not enough, and is not written down")
    func noLogin() async throws {
        #expect(try context().credentials.remove())
        #expect(await world.run("sync", mirror, "--install", in: context()) == .notAuthorised)
        #expect(world.err.contains("needs a stored login"))
        #expect(try systemctl.asked().isEmpty && !LocalFile.exists(path))
    }

    @Test(
        "--install goes with nothing that ends", arguments: ["--once", "--dry-run", "--uninstall", "--force-deletes"])
    func usage(_ flag: String) async throws {
        #expect(await world.run("sync", mirror, "--install", flag, in: context()) == .usage)
        #expect(world.err.split(separator: "\n").count == 1)
    }

    @Test(
        "units are called as systemd-escape --path calls them",
        arguments: [
            ("/home/ada/club", "home-ada-club"), ("/", "-"), ("/a-b/.c/ü x", "a\\x2db-.c-\\xc3\\xbc\\x20x"),
            ("/.hidden/a:b_c.d", "\\x2ehidden-a:b_c.d"),
        ])
    func names(_ path: String, _ name: String) {
        #expect(ServiceName.escaped(path: path) == name)
    }

    @Test("a long path still makes a file's name")
    func longName() {
        let unit = ServiceName.unit(for: "/" + String(repeating: "long/", count: 100))
        #expect(unit.utf8.count < 255 && unit.hasSuffix(".service"))
    }

    @Test("the first event tells systemd that the service is ready, once")
    func ready() async throws {
        let socket = try #require(NotifySocket(world.home.path + "/notify"))
        let press = Press()
        var context = world.context(["NOTIFY_SOCKET": world.home.path + "/notify"], interrupts: press.interrupts)
        let output = context.output
        context.output = Output { bytes in
            try output.write(bytes)
            press.now(.terminated)
        }
        try await world.put("hello", "/byteclub/trip.md")
        #expect(await world.run("sync", mirror, in: context) == .terminated)
        #expect(socket.receive() == "READY=1")
    }
}
