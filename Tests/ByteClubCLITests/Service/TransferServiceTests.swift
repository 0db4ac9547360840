import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubCLI

/// The systemd user units of background transfers, with a substitute for systemctl that records its calls.
@Suite struct TransferServiceTests {
    private let world: World
    private let systemctl: SystemctlStandIn
    private var folder: String { world.home.path + "/.config/systemd/user/" }
    private let units = [TransferService.socket, TransferService.service]

    init() async throws {
        world = try World()
        systemctl = try await SystemctlStandIn(in: world.home.path)
    }

    private func context(_ more: [String: String] = [:]) -> Context {
        var context = world.context(["PATH": systemctl.folder + ":/usr/bin:/bin"].merging(more) { $1 })
        context.executable = "/opt/100% club/byteclub"
        return context
    }

    @Test("service and socket are written, started, left alone the second time, and removed")
    func life() async throws {
        let context = context([
            "http_proxy": "http://proxy.example:3128", "HTTPS_PROXY": "http://ada:secret-word@proxy.example:3128",
        ])
        #expect(await world.run("daemon", "--install", in: context) == .success, "\(world.err)")
        #expect(world.out.hasPrefix("transfers resume after a reboot, from your login on\n"), "\(world.out)")
        #expect(
            world.err.hasPrefix("byteclub: HTTPS_PROXY is not written to the service") && !world.err.contains("secret"),
            "\(world.err)")
        let text = try units.map { String(decoding: try LocalFile.read(folder + $0), as: UTF8.self) }.joined()
        try Golden.check(text.replacing(world.home.path, with: "/home/ada"), "transfer-units.txt")
        #expect(!text.contains("secret"))
        let both = units.joined(separator: " ")
        #expect(
            try systemctl.asked() == ["--user show-environment", "--user daemon-reload", "--user enable --now \(both)"])
        #expect(await world.run("daemon", "--install", "--json", in: context) == .success)
        #expect(world.out.contains(#""isChanged" : false"#))
        #expect(try systemctl.asked() == ["--user show-environment", "--user enable --now \(both)"])
        #expect(await world.run("daemon", "--uninstall", in: context) == .success, "\(world.err)")
        #expect(try systemctl.asked().suffix(2) == ["--user disable --now \(both)", "--user daemon-reload"])
        #expect(units.allSatisfy { !LocalFile.exists(folder + $0) })
        #expect(await world.run("daemon", "--uninstall", in: context) == .success)
        #expect(try world.out == "no service is installed\n" && systemctl.asked().isEmpty)
    }

    @Test("units that cannot be started, or a socket with too long a path, leave nothing behind")
    func failure() async throws {
        try await systemctl.become("case \"$*\" in *enable*) echo 'Unit is masked.' >&2; exit 1;; esac")
        #expect(await world.run("daemon", "--install", in: context()) == .tryAgain)
        #expect(world.err.hasSuffix("failed: Unit is masked.\n"))
        #expect(units.allSatisfy { !LocalFile.exists(folder + $0) })
        let long = context(["XDG_STATE_HOME": world.home.path + "/" + String(repeating: "x", count: 100)])
        #expect(await world.run("daemon", "--install", in: long) == .configuration)
        #expect(world.err.contains("cannot be a socket's path") && world.err.split(separator: "\n").count == 1)
        #expect(units.allSatisfy { !LocalFile.exists(folder + $0) })
    }
}
