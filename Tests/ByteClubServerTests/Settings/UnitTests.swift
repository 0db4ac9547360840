import ArgumentParser
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("The units for systemd")
struct UnitTests {
    /// The lines of a unit that set something.
    private static func settings(_ name: String) -> [String] {
        String(decoding: Fixture.bytes(at: Fixture.projectRoot + "/Config/" + name), as: UTF8.self)
            .split(separator: "\n").map(String.init).filter { !$0.hasPrefix("#") && $0.contains("=") }
    }

    /// What stands behind a setting's name.
    private static func value(_ name: String, in unit: String) throws -> String {
        String(try #require(settings(unit).first { $0.hasPrefix(name + "=") }).dropFirst(name.count + 1))
    }

    @Test("The nightly backup is a command of this program, and keeps as many as it says")
    func backup() throws {
        let unit = "byteclub-backup.service"
        let count = try Self.value("Environment", in: unit).dropFirst("BACKUPS=".count)
        let line = try Self.value("ExecStart", in: unit)
            .replacing("%S", with: "/var/lib").replacing("${BACKUPS}", with: count)
        let words = line.split(separator: " ").dropFirst().map(String.init)
        let command = try #require(try RootCommand.parseAsRoot(words) as? BackupCommand)
        #expect(command.data.data == "/var/lib/byteclub" && command.target == "/var/lib/byteclub-backup")
        #expect(command.keep == 14)
        #expect(try Self.value("StateDirectory", in: unit) == "byteclub byteclub-backup")
        #expect(try Self.value("User", in: unit) == "byteclub-server", "the name that the server's unit gives its user")
        #expect(try Self.value("WantedBy", in: "byteclub-backup.timer") == "timers.target")
    }

    @Test("The nightly backup is shut in as tightly as the server")
    func hardening() {
        let own = [
            "Type=", "Exec", "Restart", "WatchdogSec=", "Timeout", "Limit", "StateDirectory=", "RestrictAddress",
        ]
        let server = Self.settings("byteclub-server.service").drop { !$0.hasPrefix("Type=") }
        let missing = Set(server).subtracting(Self.settings("byteclub-backup.service")).filter { line in
            !own.contains { line.hasPrefix($0) } && !line.hasPrefix("WantedBy=")
        }
        #expect(missing.isEmpty)
    }
}
