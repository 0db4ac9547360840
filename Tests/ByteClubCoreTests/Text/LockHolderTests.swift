import ByteClubCore
import Testing

@Suite struct LockHolderTests {
    @Test(
        "who has a lock is told with the command that ends it: systemd's for a service of ours, else kill",
        arguments: [
            ("0::/user.slice/user-1000.slice/session-2.scope\n", "kill 77"), ("", "kill 77"),
            ("0::/system.slice/cron.service\n", "kill 77"),
            ("0::/system.slice/byteclub-server.service\n", "systemctl stop 'byteclub-server.service'"),
            (
                "0::/user.slice/user-1000.slice/user@1000.service/app.slice/byteclub-sync-home-ada-club.service\n",
                "systemctl --user stop 'byteclub-sync-home-ada-club.service'"
            ),
        ])
    func ending(_ controlGroups: String, _ command: String) throws {
        let holder = try #require(LockHolder(lock: "open 77\n") { $0 == 77 ? controlGroups : nil })
        #expect(holder.process == 77 && holder.ending == command)
    }

    @Test(
        "a lock that names no process, as those of earlier releases, tells nobody",
        arguments: ["", "open\n", "open x", "open 1", "open -4"])
    func nobody(_ text: String) {
        #expect(LockHolder(lock: text) { _ in nil } == nil)
    }
}
