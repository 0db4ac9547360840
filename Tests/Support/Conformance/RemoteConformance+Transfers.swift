import ByteClubCore
import Synchronization
import Testing

extension RemoteConformance {
    static let transfers: [RemoteConformanceCase] = [
        RemoteConformanceCase("a large file goes up and comes down through files") { run in
            let directory = try TemporaryDirectory()
            let bytes = noise((18 << 20) + 12_345)
            let source = directory.path + "/source"
            #expect(TestFile.write(bytes, to: source))
            let sent = Mutex<[TransferProgress]>([])
            let stored = try await run.remote.put(
                .file(path: source), at: run.path("large.bin"), condition: .create, policy: .fail
            ) { update in sent.withLock { $0.append(update) } }
            #expect(stored.bytes == Int64(bytes.count))
            let steps = sent.withLock { $0 }
            #expect(steps.last == TransferProgress(completed: Int64(bytes.count), total: Int64(bytes.count)))
            #expect(zip(steps, steps.dropFirst()).allSatisfy { $0 != $1 && $0.completed <= $1.completed })
            let target = directory.path + "/target"
            let received = try await run.second.download(
                run.path("large.bin"), revision: stored.rev, limit: nil, to: target, progress: nil)
            #expect(received == stored)
            #expect(Fixture.bytes(at: target) == bytes)
        },
        RemoteConformanceCase("a large file keeps to conditions as a small one does") { run in
            let directory = try TemporaryDirectory()
            let source = directory.path + "/source"
            #expect(TestFile.write(noise(9 << 20), to: source))
            let base = try await run.put("small", "n.bin")
            let put = { (condition: WriteCondition, policy: ConflictPolicy) in
                try await run.remote.put(
                    .file(path: source), at: run.path("n.bin"), condition: condition, policy: policy, progress: nil)
            }
            await run.refused(.conflict) { try await put(.create, .fail) }
            #expect(try await put(.create, .rename).path.name == "n (1).bin")
            let edited = try await put(.parent(#require(base.rev)), .fail)
            #expect(edited.path.name == "n.bin" && edited.bytes == 9 << 20)
            #expect(Set(try await run.names()) == ["n.bin", "n (1).bin"])
        },
        RemoteConformanceCase("a small file goes up and comes down through files") { run in
            let directory = try TemporaryDirectory()
            for (name, bytes) in [("empty", []), ("small", Array("text".utf8)), ("medium", noise(700_000))] {
                let source = directory.path + "/" + name
                #expect(TestFile.write(bytes, to: source))
                let stored = try await run.remote.put(
                    .file(path: source), at: run.path(name), condition: .create, policy: .fail, progress: nil)
                #expect(stored.bytes == Int64(bytes.count))
                let target = directory.path + "/" + name + ".back"
                _ = try await run.remote.download(
                    run.path(name), revision: nil, limit: Int64(bytes.count), to: target, progress: nil)
                #expect(TestFile.exists(target) && Fixture.bytes(at: target) == bytes)
            }
        },
        RemoteConformanceCase("a download that fails leaves no file") { run in
            let directory = try TemporaryDirectory()
            let target = directory.path + "/target"
            await run.refused(.notFound) {
                try await run.remote.download(run.path("never"), revision: nil, limit: nil, to: target, progress: nil)
            }
            try await run.put("text", "a.md")
            await run.refused(.localFile) {
                try await run.remote.download(
                    run.path("a.md"), revision: nil, limit: nil, to: directory.path + "/none/target", progress: nil)
            }
            await run.refused(.tooLarge) {
                try await run.remote.download(run.path("a.md"), revision: nil, limit: 3, to: target, progress: nil)
            }
            #expect(!TestFile.exists(target))
            #expect(TestFile.names(in: directory.path).isEmpty)
        },
        RemoteConformanceCase("a file that cannot be read is not stored") { run in
            await run.refused(.localFile) {
                try await run.remote.put(
                    .file(path: "/nonexistent/file"), at: run.path("a.md"), condition: .create, policy: .fail,
                    progress: nil)
            }
            await run.refused(.localFile) {
                try await run.remote.put(
                    .file(path: "/tmp"), at: run.path("a.md"), condition: .create, policy: .fail, progress: nil)
            }
            await run.refused(.notFound) { try await run.remote.metadata(at: run.path("a.md")) }
        },
    ]

    static let thumbnails: [RemoteConformanceCase] = [
        RemoteConformanceCase("a photo has thumbnails that grow with their size", needsThumbnails: true) { run in
            let photo = Fixture.bytes("panoramas/forest.jpg")
            try #require(!photo.isEmpty)
            let path = try run.path("forest.jpg")
            let stored = try await run.remote.put(
                .bytes(photo), at: path, condition: .create, policy: .fail, progress: nil)
            #expect(stored.hasThumbnail)
            var last = 0
            for size in [ThumbnailSize.xs, .m, .xl] {
                let (bytes, metadata) = try await run.remote.thumbnail(of: path, size: size, format: .jpeg)
                #expect(bytes.starts(with: [0xFF, 0xD8, 0xFF]))
                #expect(metadata == stored)
                #expect(bytes.count > last)
                last = bytes.count
                #expect(try await run.second.thumbnail(of: path, size: size, format: .jpeg).bytes == bytes)
            }
        },
        RemoteConformanceCase("what is no photo has no thumbnail") { run in
            try await run.put("text", "a.md")
            try await run.put("text", "fake.jpg")
            try await run.put("x", "f/a.md")
            let ask = { (name: String) in
                try await run.remote.thumbnail(of: run.path(name), size: .s, format: .jpeg)
            }
            await run.refused(.notFound) { try await ask("a.md") }
            await run.refused(.notFound) { try await ask("never.jpg") }
            await run.refused(.notFound) { try await ask("f") }
            await run.refused(.undecodable) { try await ask("fake.jpg") }
        },
    ]
}
