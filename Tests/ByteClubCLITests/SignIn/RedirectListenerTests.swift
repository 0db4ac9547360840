import ByteClubCore
import Synchronization
import TestSupport
import Testing

@testable import ByteClubCLI

@Suite("The browser's way back") struct RedirectListenerTests {
    private static func port(_ listener: RedirectListener) throws -> UInt16 {
        try #require(UInt16(listener.url.split(separator: ":").last?.dropLast() ?? ""))
    }

    /// The status with which a request is answered.
    private static func ask(
        _ port: UInt16, _ request: String, isSent: @escaping @Sendable () -> Void = {}
    ) async -> String {
        await BackgroundThread.run {
            guard let connection = RawConnection(port: port, timeout: 60) else { return "" }
            connection.send(Array(request.utf8))
            isSent()
            return String(String(decoding: connection.receiveAll(), as: UTF8.self).dropFirst(9).prefix(3))
        }
    }

    @Test(
        "the page after a refusal says so",
        arguments: [("code=1", "You are signed in"), ("error=x", "Access was refused")])
    func pages(query: String, title: String) async throws {
        let listener = try RedirectListener()
        let port = try Self.port(listener)
        let values = Task { await BackgroundThread.run { listener.wait(state: "right", seconds: 600) } }
        let page = await BackgroundThread.run {
            guard let connection = RawConnection(port: port, timeout: 60) else { return "" }
            connection.send(Array("GET /?state=right&\(query) HTTP/1.1\r\n\r\n".utf8))
            return String(decoding: connection.receiveAll(), as: UTF8.self)
        }
        #expect(page.hasPrefix("HTTP/1.1 200") && page.contains("<h1>") && page.contains(title), "\(page)")
        #expect(await values.value != nil)
    }

    @Test(
        "another program of the machine does not hold up the sign-in, however many connections it keeps open",
        arguments: [8, 3 * RedirectListener.mostVisitors])
    func loiterers(number: Int) async throws {
        let listener = try RedirectListener()
        let port = try Self.port(listener)
        // No client reaches its deadline in this test: those with 400 waited until the browser had its answer.
        let values = Task {
            await BackgroundThread.run { listener.wait(state: "right", seconds: 600, patience: .seconds(600)) }
        }
        let present = Counter()
        var ends: [String: Int] = [:]
        try await withThrowingTaskGroup(of: String.self) { group in
            for index in 0..<number {
                let request = index.isMultiple(of: 2) ? "" : "GET /?state=right"
                group.addTask { await Self.ask(port, request) { present.add() } }
            }
            try await eventually("they are there") { present.value == number }
            #expect(await Self.ask(port, "GET /?state=right&code=mine HTTP/1.1\r\nHost: x\r\n\r\n") == "200")
            for try await end in group { ends[end, default: 0] += 1 }
        }
        #expect(ends["400", default: 0] >= min(number, RedirectListener.mostVisitors - 1), "\(ends)")
        #expect(ends["408"] == nil && ends["200"] == nil, "\(ends)")
        #expect(await values.value?["code"] == "mine")
    }

    @Test("who takes too long is told so and sent away, and what is not awaited ends no wait")
    func farewells() async throws {
        let listener = try RedirectListener()
        let port = try Self.port(listener)
        let values = Task {
            await BackgroundThread.run { listener.wait(state: "right", seconds: 600, patience: .seconds(1)) }
        }
        #expect(await Self.ask(port, "") == "408")
        #expect(await Self.ask(port, "GET /?state=wrong&code=a HTTP/1.1\r\n\r\n") == "400")
        #expect(await Self.ask(port, "GET /?state=right&code=b HTTP/1.1\r\n\r\n") == "200")
        #expect(await values.value?["code"] == "b")
    }

    private final class Counter: Sendable {
        private let count = Mutex(0)

        var value: Int { count.withLock(\.self) }
        func add() { count.withLock { $0 += 1 } }
    }
}
