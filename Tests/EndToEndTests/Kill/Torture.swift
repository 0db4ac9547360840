import TestSupport
import Testing

/// A club whose server is killed again and again while it is written to, and which must not lose what it acknowledged.
///
/// Its state lies in a directory, so that a long proof can be made in several runs.
struct Torture {
    /// How many write at once.
    static let writers = 48

    /// Where the server's data is.
    let data: String
    /// What the server is started with.
    var arguments = ["--log-level", "warning", "--housekeeping-interval", "0.3"]
    var environment: [String: String] = [:]
    private let ledger: WriteLedgerFile
    /// What was acknowledged so far, in all runs.
    private(set) var acknowledged: [AcknowledgedWrite]
    private var next: [Int]

    /// Goes on where the files in a directory say that an earlier run ended.
    init(data: String, ledger path: String) {
        self.data = data
        ledger = WriteLedgerFile(path: path)
        acknowledged = ledger.read()
        next = acknowledged.next(writers: Self.writers)
    }

    /// Starts the server on what the last one left.
    func start() async throws -> ServerProcess {
        try await ServerProcess(data: data, arguments: arguments, environment: environment)
    }

    /// Writes until `end` has done its part, and gives what was acknowledged.
    mutating func storm(
        _ server: ServerProcess, _ token: String, _ end: (WriteStorm) async throws -> Void
    ) async throws -> [AcknowledgedWrite] {
        let storm = WriteStorm(port: server.port, token: token, next: next)
        try await end(storm)
        let writes = await storm.result()
        #expect(storm.refusals.allSatisfy { $0.hasPrefix("5") }, "\(storm.refusals)")
        ledger.append(writes)
        acknowledged += writes
        // A write that was under way may have been done without an answer: its number is not given again.
        for (writer, number) in writes.next(writers: Self.writers).enumerated() {
            next[writer] = max(next[writer] + 1, number)
        }
        return writes
    }

    /// Takes acknowledgements back that were only lost because they should be, so that the next round starts afresh.
    mutating func forget(_ lost: [AcknowledgedWrite]) {
        let lost = Set(lost)
        acknowledged.removeAll { lost.contains($0) }
    }

    /// The damage that the program's own verification finds.
    func verify() async throws -> ProgramResult {
        try await Program.run("byteclub-server", ["verify", "--data", data], timeout: .seconds(900))
    }
}
