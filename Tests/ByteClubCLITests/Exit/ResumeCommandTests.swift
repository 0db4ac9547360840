import Glibc
import Synchronization
import TestSupport
import Testing

@testable import ByteClubCLI

@Suite struct ResumeCommandTests {
    @Test("the same words, as a shell reads them")
    func quoted() {
        #expect(
            ResumeCommand.text(["photos", "upload", "it's a trip.jpg", "--quality", "60"])
                == #"byteclub photos upload 'it'\''s a trip.jpg' --quality 60"#)
        #expect(
            ResumeCommand.text(["sync", SyncDirectoryCommand.name, "/a", "--once"]) == "byteclub sync /a --once")
    }

    @Test("what is done is left out, and patterns stand for what is left of them")
    func names() {
        #expect(
            ResumeCommand.text(
                ["photos", "download", "-o", "dir/", "trip-*.jpg", "b.jpg"],
                names: (["trip-*.jpg", "b.jpg"], ["trip-2.jpg", "b.jpg"]))
                == "byteclub photos download -o dir/ trip-2.jpg b.jpg")
    }

    @Test(
        "an option keeps its value, which may be called like a photo",
        arguments: [
            (["a.jpg", "b.jpg", "-o", "a.jpg"], "-o a.jpg b.jpg"),
            (["-o", "a.jpg", "--force", "a.jpg", "b.jpg"], "-o a.jpg --force b.jpg"),
            (["--force", "a.jpg", "b.jpg", "--output", "a.jpg"], "--force --output a.jpg b.jpg"),
            (["--output=a.jpg", "a.jpg", "b.jpg"], "'--output=a.jpg' b.jpg"),
            (["-o", "a.jpg", "--", "-b.jpg", "a.jpg"], "-o a.jpg -- -b.jpg b.jpg"),
        ])
    func values(_ words: [String], _ left: String) {
        #expect(
            ResumeCommand.text(["photos", "download"] + words, names: (["a.jpg", "b.jpg"], ["b.jpg"]))
                == "byteclub photos download " + left)
    }

    @Test("only what the parser takes for a flag is not followed by a value")
    func flags() async throws {
        let world = try World()
        for flag in ResumeCommand.flags {
            // Downloads in the background require a stored login.
            let status = flag == "--background" ? ExitStatus.notAuthorised : .noInput
            #expect(await world.run("photos", "download", flag, "a.jpg") == status, "\(flag): \(world.err)")
        }
    }

    @Test("a name that looks like an option is none, and an empty word is there")
    func dashes() throws {
        let given = ["photos", "download", "*.jpg", "--folder", ""]
        #expect(
            ResumeCommand.text(given, names: (["*.jpg"], ["--force", "b.jpg"]))
                == "byteclub photos download --folder '' -- --force b.jpg")
        #expect(
            ResumeCommand.text(["photos", "download", "--", "*.jpg"], names: (["*.jpg"], ["-b.jpg"]))
                == "byteclub photos download -- -b.jpg")
    }
}

@Suite struct WindDownTests {
    /// A wait that the test ends.
    private final class Pause: Sendable {
        let asked = Mutex<[Duration]>([])
        let gate = Mutex<CheckedContinuation<Void, Never>?>(nil)
        func sleep(_ duration: Duration) async {
            asked.withLock { $0.append(duration) }
            await withCheckedContinuation { continuation in gate.withLock { $0 = continuation } }
        }
        func end() { gate.withLock { $0 }?.resume() }
    }

    @Test("work goes on to the next place where it can be gone on with, or for less than a second")
    func places() async throws {
        for isReached in [true, false] {
            let pause = Pause()
            let windDown = WindDown { await pause.sleep($0) }
            let cancels = Atomic(0)
            windDown.reached()
            try windDown.check()
            windDown.request { cancels.wrappingAdd(1, ordering: .relaxed) }
            #expect(windDown.isRequested)
            #expect(throws: CancellationError.self) { try windDown.check() }
            try await eventually("it waits") { pause.gate.withLock { $0 != nil } }
            #expect(cancels.load(ordering: .relaxed) == 0)
            #expect(pause.asked.withLock { $0 } == [WindDown.longest] && WindDown.longest < .seconds(1))
            if isReached {
                windDown.reached()
                #expect(cancels.load(ordering: .relaxed) == 1)
            }
            pause.end()
            try await eventually("it is cancelled") { cancels.load(ordering: .relaxed) == (isReached ? 2 : 1) }
        }
    }
}
