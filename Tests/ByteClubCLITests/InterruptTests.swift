import Glibc
import Testing

@testable import ByteClubCLI

@Suite(.serialized) struct InterruptTests {
    @Test(
        "a real signal cancels the work once",
        arguments: [(SIGINT, ByteClubCLI.ExitStatus.interrupted), (SIGTERM, .terminated)])
    func signal(_ number: Int32, _ status: ByteClubCLI.ExitStatus) async {
        do {
            try await Interrupts.signals.cancelling {
                kill(getpid(), number)
                try? await Task.sleep(for: .seconds(60))
                throw CancellationError()
            }
            Issue.record("it went on")
        } catch {
            #expect(Failure(error).status == status)
        }
    }

    @Test("work that ends by itself is not disturbed")
    func quiet() async throws {
        #expect(try await Interrupts.signals.cancelling { 42 } == 42)
    }
}
