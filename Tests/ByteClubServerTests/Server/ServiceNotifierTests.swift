import Glibc
import TestSupport
import Testing

@testable import ByteClubServer

@Suite struct ServiceNotifierTests {
    @Test("states arrive whole on the socket that the environment names, by path and by abstract name")
    func datagrams() throws {
        let folder = try TemporaryDirectory()
        for name in [folder.path + "/notify", "@byteclub-test-\(getpid())"] {
            let socket = try #require(NotifySocket(name))
            let notifier = try #require(ServiceNotifier(environment: ["NOTIFY_SOCKET": name]))
            notifier.send("READY=1\nSTATUS=listening")
            notifier.send("STOPPING=1")
            #expect(socket.receive() == "READY=1\nSTATUS=listening")
            #expect(socket.receive() == "STOPPING=1")
            #expect(notifier.watchdogInterval == nil)
        }
    }

    @Test("without a socket, or with one that cannot be, nobody is told")
    func nobody() {
        let long = "/" + String(repeating: "a", count: 200)
        for environment in [[:], ["NOTIFY_SOCKET": ""], ["NOTIFY_SOCKET": "relative"], ["NOTIFY_SOCKET": long]] {
            #expect(ServiceNotifier(environment: environment) == nil)
        }
        ServiceNotifier(environment: ["NOTIFY_SOCKET": "/nowhere/notify"])?.send("READY=1")
    }

    @Test("the watchdog is for the process that it names")
    func watchdog() {
        func interval(_ fields: [String: String]) -> Duration? {
            ServiceNotifier(environment: fields.merging(["NOTIFY_SOCKET": "/n"]) { $1 })?.watchdogInterval
        }
        #expect(interval(["WATCHDOG_USEC": "3000000"]) == .seconds(3))
        #expect(interval(["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "\(getpid())"]) == .seconds(3))
        #expect(interval(["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "1"]) == nil)
        #expect(interval(["WATCHDOG_USEC": "x"]) == nil && interval(["WATCHDOG_USEC": "0"]) == nil)
    }
}
