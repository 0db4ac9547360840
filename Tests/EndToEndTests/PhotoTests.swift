import ByteClubCore
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Photos") struct PhotoTests {
        @Test("an upload at a limited rate takes its time, tells its progress in plain lines, and prints the path")
        func limitedUpload() async throws {
            let club = try await Club.start()
            let ann = try await club.member("ann")
            let photo = Fixture.path("panoramas/forest.jpg")
            let result = try await ann.byteclub("photos", "upload", photo, "--limit-rate", "60K")
            #expect(result.status == 0, "\(result)")
            #expect(result.lines == ["/byteclub/photos/forest.jpg"], "\(result)")
            #expect(result.seconds > 1.5, "225 KB at 60 KB/s, of which the first second's may go at once")
            #expect(result.errorLines.first?.contains("forest.jpg") == true, "\(result)")
            #expect(result.errorLines.last?.hasPrefix("uploaded forest.jpg, ") == true, "\(result)")
            #expect(!result.errorText.contains("\r") && !result.errorText.contains("\u{1B}"), "\(result)")
            let stored = try await club.api.get("/byteclub/photos/forest.jpg")
            #expect(stored.bytes == Fixture.bytes("panoramas/forest.jpg"))
        }

        @Test("Ctrl-C ends an upload with 130 at once and leaves nothing on the server", arguments: [1, 20])
        func interrupt(megabytes: Int) async throws {
            let club = try await Club.start()
            let ann = try await club.member("ann")
            let file = ann.home + "/big.jpg"
            let head = Fixture.bytes("panoramas/city.jpg")
            try LocalFiles.writeLarge(head: head, length: megabytes << 20, seed: 1, to: file)
            let before = try await club.api.fingerprint()
            let process = try ann.start(["photos", "upload", file, "--limit-rate", "\(megabytes * 100)K"])
            let line = await process.line(of: .errors) { $0.contains("big.jpg") }
            #expect(line != nil, "no progress was told")
            try await ContinuousClock().sleep(for: .milliseconds(1500))
            #expect(!process.hasEnded, "the upload is too fast for this test")
            let clock = ContinuousClock()
            let start = clock.now
            process.send(2)
            let result = await process.result()
            #expect(result.status == 130 && result.signal == nil, "\(result)")
            #expect(clock.now - start < .seconds(20), "\(clock.now - start)")
            #expect(result.output.isEmpty, "\(result)")
            #expect(try await club.api.fingerprint() == before)
            let again = try await ann.byteclub("photos", "upload", file)
            #expect(again.status == 0, "\(again)")
        }

        @Test("photos are found by kind, day and place, as members want them to be seen")
        func found() async throws {
            let club = try await Club.start()
            let ann = try await club.member("ann")
            let files = ["dated", "city", "phone-strip"].map { Fixture.path("panoramas/\($0).jpg") }
            #expect(try await ann.start(["photos", "upload"] + files).result().status == 0)
            #expect(try await ann.byteclub("photos", "set-view", "city.jpg", "cylinder").status == 0)
            for (arguments, names) in [
                (["--kind", "strip"], ["phone-strip.jpg"]), (["--kind", "cylinder"], ["city.jpg"]),
                (["--since", "2013-08-05", "--until", "2013-08-05"], ["dated.jpg"]),
                (["--near", "50.6,6.44,5"], ["dated.jpg"]), (["--near", "-50.6,6.44", "--kind", "flat"], []),
                (["--since", "2014-01-01", "--kind", "cylinder,strip"], ["city.jpg", "phone-strip.jpg"]),
            ] {
                let result = try await ann.start(["photos", "list"] + arguments).result()
                #expect(result.status == 0, "\(result)")
                #expect(result.lines.map { String($0.prefix { $0 != "\t" }) } == names, "\(arguments): \(result)")
            }
        }

        @Test("a view has a number at each hot spot of the photo, and a line for each below")
        func spots() async throws {
            let club = try await Club.start()
            let ann = try await club.member("ann")
            let uploaded = try await ann.byteclub("photos", "upload", Fixture.path("panoramas/city.jpg"))
            #expect(uploaded.status == 0, "\(uploaded)")
            let note = "The square.\n\nat 10,-5: [to the hut](hut.jpg)\nat 180,0: [](../trip.md)\n"
            let added = try await ann.byteclub("notes", "add", "photos/city.jpg.md", input: Array(note.utf8))
            #expect(added.status == 0, "\(added)")
            let shown = try await ann.start(
                ["photos", "show", "city.jpg", "--view", "0,0"], environment: ["TERM": "xterm"],
                terminals: [.output, .errors], columns: 60
            ).result()
            #expect(shown.status == 0 && shown.text.contains("m 1 ") && !shown.text.contains("m 2 "), "\(shown)")
            #expect(shown.text.contains("1  to the hut  hut.jpg"), "\(shown)")
            #expect(shown.text.contains("behind, at 180,0"), "\(shown)")
        }

        @Test("a download brings the bytes, a thumbnail a smaller JPEG, each as one whole file")
        func download() async throws {
            let club = try await Club.start()
            let ann = try await club.member("ann")
            let photo = Fixture.path("panoramas/city.jpg")
            #expect(try await ann.byteclub("photos", "upload", photo).status == 0)
            let copy = ann.home + "/copy.jpg"
            let result = try await ann.byteclub("photos", "download", "city.jpg", "-o", copy)
            #expect(result.status == 0, "\(result)")
            #expect(Fixture.bytes(at: copy) == Fixture.bytes(at: photo))
            let again = try await ann.byteclub("photos", "download", "city.jpg", "-o", copy)
            expectRefusal(again, [73])
            let small = ann.home + "/small.jpg"
            let thumbnail = try await ann.byteclub("photos", "thumbnail", "city.jpg", "--size", "m", "-o", small)
            #expect(thumbnail.status == 0, "\(thumbnail)")
            let pixels = try #require(JPEGSize(Fixture.bytes(at: small)))
            #expect(pixels.width == 128 && pixels.height <= 128)
            let nowhere = try await ann.byteclub("photos", "download", "city.jpg", "-o", ann.home + "/no/such/x.jpg")
            expectRefusal(nowhere, [73])
            #expect(FileTree.names(in: ann.home)?.filter { $0.hasSuffix(".jpg") } == ["copy.jpg", "small.jpg"])
            let size = try await ann.byteclub("photos", "thumbnail", "city.jpg", "--size", "huge", "-o", small)
            #expect(size.status == 64, "\(size)")
        }

        @Test("--quality encodes anew, smaller, and leaves the original alone")
        func quality() async throws {
            let club = try await Club.start()
            let ann = try await club.member("ann")
            try LocalFiles.write(Fixture.bytes("panoramas/forest.jpg"), to: ann.home + "/forest.jpg")
            let result = try await ann.byteclub("photos", "upload", "forest.jpg", "--quality", "40")
            #expect(result.status == 0, "\(result)")
            let stored = try await club.api.get("/byteclub/photos/forest.jpg").bytes
            #expect(JPEGSize(stored) == JPEGSize(Fixture.bytes("panoramas/forest.jpg")))
            #expect(stored.count < 200_000)
            #expect(Fixture.bytes(at: ann.home + "/forest.jpg") == Fixture.bytes("panoramas/forest.jpg"))
            for quality in ["0", "101", "x"] {
                let refused = try await ann.byteclub("photos", "upload", "forest.jpg", "--quality", quality)
                #expect(refused.status == 64, "\(refused)")
            }
        }

        @Test("several photos go one after another; what is wrong with one does not stop the others")
        func several() async throws {
            let club = try await Club.start()
            let ann = try await club.member("ann")
            let files = ["city.jpg", "not-a-photo.jpg", "night.jpg"].map { Fixture.path("panoramas/" + $0) }
            let result = try await ann.start(["photos", "upload"] + files).result()
            #expect(result.status != 0, "\(result)")
            #expect(result.lines == ["/byteclub/photos/city.jpg", "/byteclub/photos/night.jpg"], "\(result)")
            let listed = try JSONValue.parse(try await ann.byteclub("photos", "list", "--json").output).elements
            let paths = listed.compactMap { $0["path"]?.text }.sorted()
            #expect(paths == ["/byteclub/photos/city.jpg", "/byteclub/photos/night.jpg"])
            #expect(try await ann.byteclub("photos", "rm", "city.jpg").status == 0)
            #expect(try await club.api.tree("/byteclub/photos").values.filter { !$0.isFolder }.count == 1)
        }

        @Test("folders of photos go up as albums and come down as the same folders", arguments: [false, true])
        func albums(inBackground: Bool) async throws {
            let club = try await Club.start()
            let ann = try await club.member("ann")
            let files = [
                "2024 Dolomites/view.jpg": "city", "2024 Dolomites/day 2/view.jpg": "night", "2026/view.jpg": "forest",
                "top.jpg": "dated",
            ]
            for (file, photo) in files {
                try LocalFiles.write(
                    Fixture.bytes("panoramas/\(photo).jpg"), to: ann.home + "/Pictures/" + file)
            }
            let more = inBackground ? ["--background"] : []
            let finish = { () async throws in
                guard inBackground else { return }
                let waited = try await ann.start(["transfers", "wait"]).result()
                #expect(waited.status == 0, "\(waited)")
            }
            let up = try await ann.start(["photos", "upload", ann.home + "/Pictures"] + more).result()
            #expect(up.status == 0, "\(up)")
            try await finish()
            let stored = try await club.api.tree("/byteclub/photos").values.filter { !$0.isFolder }
            #expect(Set(stored.map(\.path.string)) == Set(files.keys.map { "/byteclub/photos/" + $0 }))
            let albums = try await ann.byteclub("photos", "albums")
            let names = albums.lines.map { $0.split(separator: "\t").prefix(2).joined(separator: ": ") }
            #expect(names == ["2024 Dolomites: 1", "2024 Dolomites/day 2: 1", "2026: 1"], "\(albums)")
            let listed = try await ann.byteclub("photos", "list", "--json")
            let counts = try JSONValue.parse(listed.output).elements.compactMap { $0["count"]?.number }
            #expect(counts == [2, 1], "\(listed)")
            let copy = ann.home + "/Copy"
            LocalFiles.makeFolder(copy)
            let down = try await ann.start(["photos", "download", ".", "-o", copy] + more).result()
            #expect(down.status == 0, "\(down)")
            try await finish()
            for (file, photo) in files {
                #expect(Fixture.bytes(at: copy + "/" + file) == Fixture.bytes("panoramas/\(photo).jpg"))
            }
            let flat = try await ann.start(["photos", "upload", "--flat", "Pictures", "--album", "One"] + more).result()
            #expect(flat.status == 0, "\(flat)")
            try await finish()
            let one = try await club.api.tree("/byteclub/photos/One").values.filter { !$0.isFolder }.map(\.path.name)
            #expect(Set(one) == ["view.jpg", "view (1).jpg", "view (2).jpg", "top.jpg"])
        }

        @Test("another photo of the same name does not replace the first")
        func sameName() async throws {
            let club = try await Club.start()
            let ann = try await club.member("ann")
            try LocalFiles.write(Fixture.bytes("panoramas/city.jpg"), to: ann.home + "/a/view.jpg")
            try LocalFiles.write(Fixture.bytes("panoramas/night.jpg"), to: ann.home + "/b/view.jpg")
            for file in ["a/view.jpg", "b/view.jpg", "a/view.jpg"] {
                let result = try await ann.byteclub("photos", "upload", file)
                #expect(result.status == 0 && result.lines.count == 1, "\(result)")
            }
            let hashes = try await club.api.tree("/byteclub/photos").values.compactMap(\.contentHash)
            let expected = ["city.jpg", "night.jpg"].map { ContentHasher.hash(Fixture.bytes("panoramas/" + $0)) }
            #expect(Set(hashes) == Set(expected) && hashes.count == 2)
        }
    }
}
