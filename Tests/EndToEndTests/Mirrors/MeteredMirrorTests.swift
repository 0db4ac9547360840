import Glibc
import TestSupport
import Testing

extension EndToEnd {
    @Suite("A member on a metered network") struct MeteredMirrorTests {
        @Test("a sync waits for an unmetered network, shows it, and goes on at once", arguments: Wire.tried)
        func waits(wire: Wire) async throws {
            let club = try await Club.start(wire)
            var ann = try await club.member("ann")
            let bus = try #require(MeteredBus(ann.home + "/bus", isMetered: true))
            defer { bus.stop() }
            ann.environment.merge(bus.environment) { $1 }
            try LocalFiles.write("metered = wait\n", to: ann.home + "/config/byteclub/config")
            try LocalFiles.write("one\n", to: ann.mirror + "/one.md")

            let once = try await ann.sync()
            let refusal =
                "byteclub: the network is metered; nothing was done, and --no-unmetered-only syncs all the same"
            #expect(once.status == 75 && once.text.isEmpty, "\(once)")
            #expect(once.errorLines == [refusal], "\(once)")

            let process = try ann.start(["sync", ann.mirror], timeout: .seconds(300))
            let told = "byteclub: paused: the network is metered"
            #expect(await process.line(of: .errors) { $0 == told } == told)
            let status = try await ann.byteclub("status", ann.mirror)
            #expect(status.text.contains("\nwaiting for an unmetered network\nwaiting: 1 file to upload"), "\(status)")
            #expect(try await club.api.hashes()["/byteclub/one.md"] == nil)

            bus.set(isMetered: false)
            try await eventually("the note goes up") { try await club.api.hashes()["/byteclub/one.md"] != nil }
            bus.set(isMetered: true)
            try await eventually("it waits again") {
                try await ann.byteclub("status", ann.mirror).text.contains("\nwaiting for an unmetered network\n")
            }
            try LocalFiles.write("two\n", to: ann.mirror + "/two.md")
            // A program that does not wait would have sent it by then.
            try await Task.sleep(for: .milliseconds(500))
            #expect(try await club.api.hashes()["/byteclub/two.md"] == nil)
            bus.set(isMetered: false)
            try await eventually("the second note goes up") {
                try await club.api.hashes()["/byteclub/two.md"] != nil
            }
            process.send(SIGINT)
            let result = await process.result()
            #expect(result.status == 130, "\(result)")
            try await expectSynced(ann)
        }

        @Test("a photo in the background waits for an unmetered network, and its list shows why")
        func photo() async throws {
            let club = try await Club.start()
            var ann = try await club.member("ann")
            let bus = try #require(MeteredBus(ann.home + "/bus", isMetered: true))
            defer { bus.stop() }
            ann.environment.merge(bus.environment) { $1 }
            let file = Fixture.path("panoramas/city.jpg")
            let queued = try await ann.byteclub("photos", "upload", "--background", "--unmetered-only", file)
            #expect(queued.status == 0, "\(queued)")
            try await eventually("the list shows why") {
                try await ann.byteclub("transfers", "--json").text.contains(#""obstacle" : "metered""#)
            }
            #expect(try await club.api.hashes()["/byteclub/photos/city.jpg"] == nil)
            bus.set(isMetered: false)
            let waited = try await ann.byteclub("transfers", "wait")
            #expect(waited.status == 0, "\(waited)")
            #expect(try await club.api.hashes()["/byteclub/photos/city.jpg"] != nil)
            let stopped = try await ann.byteclub("daemon", "--stop")
            #expect(stopped.status == 0, "\(stopped)")
        }
    }
}
