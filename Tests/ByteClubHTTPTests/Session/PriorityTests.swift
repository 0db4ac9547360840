import HTTPTypes
import Testing

@testable import ByteClubHTTP

extension Live {
    @Suite struct PriorityTests {
        @Test("the urgent go first, also those that became so while they waited")
        func order() async throws {
            let gate = Gate()
            let server = try FaultServer { peer, request in
                if request.target == "/first" { gate.pass() }
                return peer.respond(200) ? .keep : .close
            }
            defer { server.stop() }
            try await withSession {
                $0.maximumTasksPerHost = 1
            } _: { session in
                func task(_ path: String, _ priority: SessionTask.Priority) -> SessionTask {
                    var options = TaskOptions()
                    options.priority = priority
                    let task = session.dataTask(server.request(.get, path), options: options)
                    task.resume()
                    return task
                }
                var tasks = [task("/first", .normal)]
                await server.received(1)
                tasks += [task("/low", .low), task("/a", .normal), task("/b", .normal), task("/high", .high)]
                tasks[3].priority = .high
                tasks[2].priority = .low
                tasks[2].priority = .normal
                gate.open()
                for task in tasks { _ = try await task.value }
                #expect(tasks[3].priority == .high)
            }
            let order = server.requests.map(\.target)
            // The order in which the two became urgent is not defined.
            #expect(Set(order.dropFirst().prefix(2)) == ["/high", "/b"])
            #expect(order.first == "/first" && order.suffix(2) == ["/a", "/low"])
        }
    }
}
