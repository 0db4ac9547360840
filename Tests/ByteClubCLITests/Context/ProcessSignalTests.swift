import Glibc
import TestSupport
import Testing

@testable import ByteClubCLI

/// Handlers of signals belong to the whole process, so one test at a time changes them.
@Suite("Signals of the process", .serialized) struct ProcessSignalTests {
    @Test(
        "a real signal cancels the work once",
        arguments: [(SIGINT, ByteClubCLI.ExitStatus.interrupted), (SIGTERM, .terminated)])
    func signal(_ number: Int32, _ status: ByteClubCLI.ExitStatus) async {
        do {
            try await Interrupts.signals.cancelling {
                kill(getpid(), number)
                try await Task.sleep(for: .seconds(20))
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

    @Test("the editor's value is a shell command, and the file is its last argument whatever its name")
    func shell() throws {
        let directory = try TemporaryDirectory()
        let file = directory.path + "/it's $HOME `x`.md"
        try LocalFile.replace(file, with: Array("old".utf8))
        #expect(try Editor.shell.run("sed -i -e 's/old/new words/'", file) == 0)
        #expect(String(decoding: try LocalFile.read(file), as: UTF8.self) == "new words")
        #expect(try Editor.shell.run("exit 3;", file) == 3)
        #expect(try Editor.shell.run("byteclub-no-such-editor 2>/dev/null", file) == 127)
        #expect(try Editor.shell.run("kill -KILL $$;", file) == 128 + 9)
    }

    @Test("an editor hears every signal, whatever the thread that starts it has blocked")
    func mask() throws {
        let folder = try TemporaryDirectory()
        let file = folder.path + "/note"
        try LocalFile.replace(file, with: [])
        #expect(try Editor.shell.run(#"sh -c 'grep SigBlk /proc/self/status > "$0"'"#, file) == 0)
        #expect(try LocalFile.read(file) == Array("SigBlk:\t0000000000000000\n".utf8))
    }
}
