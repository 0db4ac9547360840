import ByteClubCore
import Testing

@testable import ByteClubServer

extension ClubStoreConformance {
    static let uploads = [
        ClubStoreConformance("an upload goes on where it was, and becomes a content of any size") { run in
            for count in [0, 10, 70_000, 9_000_000] {
                let bytes = randomBytes(count, seed: UInt64(count))
                var upload = try await run.store.beginUpload(member: 1)
                #expect(upload.offset == 0 && upload.expires.seconds == run.clock.now.seconds + 48 * 3600)
                for part in [bytes.prefix(count / 3), bytes.dropFirst(count / 3)] {
                    upload = try await run.send(upload.uploadID, at: upload.offset, Array(part))
                    #expect(try await run.store.upload(upload.uploadID, member: 1) == upload)
                }
                let entry = try await run.commit(upload.uploadID, to: "/\(count)")
                #expect(entry.contentHash == ContentHasher.hash(bytes))
                #expect(try await run.bytes(entry) == bytes)
                await #expect(throws: UploadError.alreadyCompleted) {
                    try await run.store.finishedUpload(upload.uploadID, member: 1)
                }
                await #expect(throws: UploadError.alreadyCompleted) {
                    try await run.send(upload.uploadID, at: upload.offset, [1])
                }
            }
        },
        ClubStoreConformance("a chunk at the wrong place is refused with the right one, and strangers find nothing") {
            run in
            let upload = try await run.store.beginUpload(member: 1)
            let held = try await run.send(upload.uploadID, at: 0, [1, 2, 3])
            await #expect(throws: UploadError.wrongOffset(got: 8, upload: held)) {
                try await run.send(upload.uploadID, at: 8, [4])
            }
            await #expect(throws: UploadError.unknown) { try await run.store.upload(upload.uploadID, member: 2) }
            await #expect(throws: UploadError.unknown) { try await run.store.upload("nothing", member: 1) }
            await #expect(throws: UploadError.unknown) { try await run.send("nothing", at: 0, [1]) }
        },
        ClubStoreConformance("of chunks at the same offset exactly one wins, and the others are told where it stands") {
            run in
            let upload = try await run.store.beginUpload(member: 1)
            let winners = await withTaskGroup(of: UInt8?.self) { group in
                for number in UInt8(1)...8 {
                    group.addTask {
                        do {
                            let part = [UInt8](repeating: number, count: 400_000)
                            try await run.send(upload.uploadID, at: 0, part)
                            return number
                        } catch UploadError.wrongOffset(got: 0, _) {
                            return nil
                        } catch {
                            Issue.record("another error: \(error)")
                            return nil
                        }
                    }
                }
                return await group.reduce(into: [UInt8]()) { if let number = $1 { $0.append(number) } }
            }
            #expect(winners.count == 1)
            let entry = try await run.commit(upload.uploadID, to: "/p")
            #expect(try await run.bytes(entry) == [UInt8](repeating: winners.first ?? 0, count: 400_000))
        },
        ClubStoreConformance("a chunk cut short, dropped or pushed aside leaves nothing") { run in
            let bytes = randomBytes(1_200_000, seed: 4)
            let id = try await run.store.beginUpload(member: 1).uploadID
            try await run.send(id, at: 0, Array(bytes[..<500_000]))
            let cut = try await run.store.appendToUpload(id, member: 1, at: 500_000)
            try await cut.write(randomBytes(700_000, seed: 9))
            await cut.discard()
            do {
                let dropped = try await run.store.appendToUpload(id, member: 1, at: 500_000)
                try await dropped.write(randomBytes(600_000, seed: 9))
            }
            let stalled = try await run.store.appendToUpload(id, member: 1, at: 500_000)
            try await stalled.write(randomBytes(300_000, seed: 9))
            #expect(try await run.store.upload(id, member: 1).offset == 500_000)
            try await run.send(id, at: 500_000, Array(bytes[500_000...]))
            await #expect(throws: UploadError.self) { try await stalled.finish() }
            let entry = try await run.commit(id, to: "/p")
            #expect(try await run.bytes(entry) == bytes)
        },
        ClubStoreConformance("a chunk that still arrives when the upload is stored does not reach the content") { run in
            let bytes = randomBytes(900_000, seed: 5)
            let id = try await run.store.beginUpload(member: 1).uploadID
            try await run.send(id, at: 0, bytes)
            let late = try await run.store.appendToUpload(id, member: 1, at: 900_000)
            try await late.write(randomBytes(300_000, seed: 6))
            let entry = try await run.commit(id, to: "/p")
            await #expect(throws: UploadError.alreadyCompleted) {
                try await late.write(randomBytes(300_000, seed: 6))
                _ = try await late.finish()
            }
            #expect(try await run.bytes(entry) == bytes)
        },
        ClubStoreConformance("an upload that went on since its content was taken is not stored by that") { run in
            let id = try await run.store.beginUpload(member: 1).uploadID
            try await run.send(id, at: 0, randomBytes(100_000, seed: 1))
            let taken = try await run.store.finishedUpload(id, member: 1)
            try await run.send(id, at: 100_000, [1])
            await #expect(throws: UploadError.alreadyCompleted) {
                try await run.store.write(by: 1, storing: taken) {
                    try $0.put(
                        try RemotePath("/p"), bytes: taken.bytes, hash: taken.hash, condition: .create, policy: .fail)
                }
            }
            #expect(try await run.live() == [])
            #expect(try await run.commit(id, to: "/p").bytes == 100_001)
        },
        ClubStoreConformance("a refused write leaves the upload as it was") { run in
            try await run.put("/taken", [1])
            for (count, path) in [(10, "/small"), (300_000, "/large")] {
                let bytes = randomBytes(count, seed: 8)
                let id = try await run.store.beginUpload(member: 1).uploadID
                try await run.send(id, at: 0, Array(bytes.dropLast()))
                await run.refused(409) { _ = try await run.commit(id, to: "/taken") }
                try await run.send(id, at: Int64(count - 1), Array(bytes.suffix(1)))
                let entry = try await run.commit(id, to: path)
                #expect(try await run.bytes(entry) == bytes)
            }
        },
        ClubStoreConformance("an upload is forgotten after 48 hours that have really passed") { run in
            let id = try await run.store.beginUpload(member: 1).uploadID
            try await run.send(id, at: 0, [1])
            run.clock.jump(3650 * 86_400)
            await run.keepHouse()
            #expect(try await run.store.upload(id, member: 1).offset == 1)
            await run.days(2)
            await #expect(throws: UploadError.unknown) { try await run.store.upload(id, member: 1) }
        },
        ClubStoreConformance(
            "who begins too many uploads gives up the idlest, and no more than that",
            HistorySettings(unfinishedUploads: 3)
        ) { run in
            var ids: [String] = []
            for _ in 0..<3 {
                ids.append(try await run.store.beginUpload(member: 1).uploadID)
                run.clock.advance(1)
            }
            try await run.send(ids[0], at: 0, [1])
            let held = try await run.store.appendToUpload(ids[1], member: 1, at: 0)
            _ = try await run.store.beginUpload(member: 1)
            _ = try await run.store.beginUpload(member: 2)
            await #expect(throws: UploadError.unknown) { try await run.store.upload(ids[2], member: 1) }
            for id in ids.prefix(2) { _ = try await run.store.upload(id, member: 1) }
            withExtendedLifetime(held) {}
        },
        ClubStoreConformance(
            "who sends as many uploads at once as there may be begins no other",
            HistorySettings(unfinishedUploads: 2)
        ) { run in
            var writers: [any UploadWriter] = []
            for _ in 0..<2 {
                let id = try await run.store.beginUpload(member: 1).uploadID
                writers.append(try await run.store.appendToUpload(id, member: 1, at: 0))
            }
            await #expect(throws: UploadError.tooMany) { try await run.store.beginUpload(member: 1) }
            await writers.removeLast().discard()
            _ = try await run.store.beginUpload(member: 1)
            withExtendedLifetime(writers) {}
        },
    ]
}
