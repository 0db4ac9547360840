import Synchronization

/// Many writers at once, each on a connection of its own, until the server is gone or the storm is told to end.
public final class WriteStorm: Sendable {
    private struct State {
        var isEnding = false
        var running = 0
        var acknowledged: [AcknowledgedWrite] = []
        var refusals: [String] = []
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())
    private let count = Atomic(0)

    /// Starts the writers.
    ///
    /// - Parameters:
    ///   - port: The server's.
    ///   - token: Whose writes they are.
    ///   - next: The number of each writer's next write.
    public init(port: UInt16, token: String, next: [Int]) {
        state.withLock { $0.running = next.count }
        for (writer, number) in next.enumerated() {
            BackgroundThread.start { [self] in
                let result = write(writer, from: number, port, token)
                end(result.writes, result.refusal)
            }
        }
    }

    /// How many writes were acknowledged so far.
    public var acknowledgedCount: Int { count.load(ordering: .relaxed) }

    /// What the server said instead of doing what it was asked for.
    public var refusals: [String] { state.withLock { $0.refusals } }

    /// Lets each writer finish what it is at.
    public func finish() { state.withLock { $0.isEnding = true } }

    /// Waits until all writers have ended, and tells what was acknowledged.
    public func result() async -> [AcknowledgedWrite] {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.running > 0 { state.waiter = continuation }
                return state.running == 0
            }
            if isOver { continuation.resume() }
        }
        return state.withLock { $0.acknowledged }
    }

    private func write(
        _ writer: Int, from first: Int, _ port: UInt16, _ token: String
    ) -> (writes: [AcknowledgedWrite], refusal: String?) {
        var writes: [AcknowledgedWrite] = []
        guard var connection = KeepAliveConnection(port: port, token: token) else { return ([], nil) }
        var number = first
        while !state.withLock({ $0.isEnding }) {
            let line = "PUT /1/files_put/dropbox" + NoteLoad.path(writer: writer, number: number)
            guard let answer = connection.exchange(line, body: NoteLoad.bytes(writer: writer, number: number)) else {
                return (writes, nil)
            }
            guard answer.status == 200, let revision = Self.revision(in: answer.body) else {
                return (writes, "\(answer.status) \(String(decoding: answer.body.prefix(200), as: UTF8.self))")
            }
            writes.append(AcknowledgedWrite(writer: Int32(writer), number: Int32(number), revision: revision))
            count.wrappingAdd(1, ordering: .relaxed)
            number += 1
        }
        return (writes, nil)
    }

    private func end(_ writes: [AcknowledgedWrite], _ refusal: String?) {
        let waiter: CheckedContinuation<Void, Never>? = state.withLock { state in
            state.acknowledged += writes
            if let refusal { state.refusals.append(refusal) }
            state.running -= 1
            guard state.running == 0 else { return nil }
            return state.waiter
        }
        waiter?.resume()
    }

    /// The number after `"revision":` in an answer.
    private static func revision(in body: [UInt8]) -> Int64? {
        let name = Array("\"revision\":".utf8)
        guard body.count > name.count else { return nil }
        for start in 0..<(body.count - name.count) where body[start] == name[0] {
            guard body[start..<(start + name.count)].elementsEqual(name) else { continue }
            let digits = body[(start + name.count)...].drop { $0 == 0x20 }.prefix { (48...57).contains($0) }
            return Int64(String(decoding: digits, as: UTF8.self))
        }
        return nil
    }
}
