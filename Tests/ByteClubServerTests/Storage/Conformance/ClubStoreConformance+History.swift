import ByteClubCore
import Testing

@testable import ByteClubServer

extension ClubStoreConformance {
    private static let day: Int64 = 86_400

    static let links = [
        ClubStoreConformance("a link goes with its entry, and gives what is below a shared folder") { run in
            try await run.add("Ann")
            let note = try await run.put("/d/n", [1])
            let folder = try #require(try await run.store.read { try $0.live(try RemotePath("/d")) })
            let link = try await run.store.link(.share, to: folder, by: 1, lifetime: nil)
            #expect(link.path.string == "/d" && link.member == "Ann")
            #expect(link.expires.seconds == run.clock.now.seconds + Link.Purpose.share.lifetime)
            try await run.move("/d", to: "/e/f")
            #expect(try await run.store.entry(.share, secret: link.secret, below: "")?.path.string == "/e/f")
            #expect(try await run.store.entry(.share, secret: link.secret, below: "n")?.node == note.node)
            #expect(try await run.store.entry(.share, secret: link.secret, below: "no/such") == nil)
            #expect(try await run.store.entry(.copy, secret: link.secret, below: "") == nil)
            #expect(try await run.store.entry(.share, secret: "0", below: "") == nil)
            try await run.delete("/e")
            try await run.put("/d", [2])
            #expect(try await run.store.entry(.share, secret: link.secret, below: "") == nil)
        },
        ClubStoreConformance("a member has one link to an entry, whose end moves only when asked") { run in
            try await run.add("Ann")
            let entry = try await run.put("/n", [1])
            let first = try await run.store.link(.share, to: entry, by: 1, lifetime: nil)
            run.clock.advance(10)
            #expect(try await run.store.link(.share, to: entry, by: 1, lifetime: nil) == first)
            let other = try await run.store.link(.share, to: entry, by: 1, lifetime: 60)
            #expect(other.secret == first.secret && other.expires.seconds == run.clock.now.seconds + 60)
            run.clock.advance(60)
            #expect(try await run.store.entry(.share, secret: first.secret, below: "") == nil)
            #expect(try await run.store.link(.share, to: entry, by: 1, lifetime: nil).secret != first.secret)
        },
        ClubStoreConformance("what is said of a link is so until it is said otherwise") { run in
            try await run.add("Ann")
            let entry = try await run.put("/n.jpg", [1])
            let password = try #require(PasswordHash(text: "scrypt$2$1$1$a$b"))
            let first = try await run.store.link(
                .share, to: entry, by: 1, Link.Terms(password: .hash(password), keepsLocation: true))
            #expect(first.password == password && first.keepsLocation)
            #expect(try await run.store.link(.share, to: entry, by: 1, lifetime: nil) == first)
            #expect(try await run.store.link(.share, secret: first.secret) == first)
            let later = try await run.store.link(
                .share, to: entry, by: 1, Link.Terms(password: Link.Terms.Password.none, keepsLocation: false))
            #expect(later.secret == first.secret && later.expires == first.expires)
            #expect(later.password == nil && !later.keepsLocation)
            #expect(try await run.store.link(.media, secret: first.secret) == nil)
            run.clock.advance(Link.Purpose.share.lifetime)
            #expect(try await run.store.link(.share, secret: first.secret) == nil)
        },
        ClubStoreConformance("photos are found by their contents as long as they are there") { run in
            try await run.add("Ann")
            let photo = try await run.put("/d/a.JPG", [1])
            try await run.put("/d/b.md", [1])
            let hash = try #require(photo.contentHash)
            let other = ContentHasher.hash([9])
            #expect(try await run.store.photos(with: hash, limit: 9).map(\.path.string) == ["/d/a.JPG"])
            #expect(try await run.store.withoutPhotos([hash, other]) == [other])
            try await run.move("/d", to: "/e")
            #expect(try await run.store.photos(with: hash, limit: 9).map(\.path.string) == ["/e/a.JPG"])
            try await run.delete("/e/a.JPG")
            #expect(try await run.store.photos(with: hash, limit: 9).isEmpty)
            #expect(try await run.store.withoutPhotos([hash]).isEmpty, "what was deleted may come back")
        },
        ClubStoreConformance("a link to bytes stays with its version, and is given again for an hour") { run in
            try await run.add("Ann")
            let one = try await run.put("/p.jpg", [1])
            let link = try await run.store.link(.media, to: one, by: 1, lifetime: nil)
            #expect(try await run.store.link(.media, to: one, by: 1, lifetime: nil) == link)
            let two = try await run.put("/p.jpg", [2])
            #expect(try await run.store.link(.media, to: two, by: 1, lifetime: nil).secret != link.secret)
            #expect(try await run.store.entry(.media, secret: link.secret, below: "") == one)
            run.clock.advance(Link.mediaReuse)
            #expect(try await run.store.link(.media, to: one, by: 1, lifetime: nil).secret != link.secret)
            #expect(try await run.store.entry(.media, secret: link.secret, below: "") == one)
        },
        ClubStoreConformance("links are seen and taken back by their makers and by owners, the newest first") { run in
            try await run.add("Ann")
            try await run.add("Ben")
            let (ann, ben) = try await (run.store.members()[0], run.store.members()[1])
            let entry = try await run.put("/n", [1])
            let share = try await run.store.link(.share, to: entry, by: 2, lifetime: nil)
            let media = try await run.store.link(.media, to: entry, by: 1, lifetime: nil)
            let copy = try await run.store.link(.copy, to: entry, by: 2, lifetime: nil)
            let seen = { (member: Member, purpose: Link.Purpose?, before: Int64, limit: Int) in
                try await run.store.links(seenBy: member, purpose, before: before, limit: limit).map(\.id)
            }
            #expect(try await seen(ann, nil, .max, 9) == [media.id, share.id])
            #expect(try await seen(ann, nil, .max, 1) == [media.id])
            #expect(try await seen(ann, nil, media.id, 9) == [share.id])
            #expect(try await seen(ann, .media, .max, 9) == [media.id])
            #expect(try await seen(ben, nil, .max, 9) == [share.id])
            #expect(try await !run.store.removeLink(media.id, for: ben))
            #expect(try await !run.store.removeLink(copy.id, for: ben))
            #expect(try await run.store.removeLink(share.id, for: ann))
            #expect(try await !run.store.removeLink(share.id, for: ann))
            #expect(try await run.store.entry(.share, secret: share.secret, below: "") == nil)
        },
        ClubStoreConformance("links end with their maker, and shared ones with the right to share") { run in
            try await run.add("Ann")
            try await run.add("Ben")
            let entry = try await run.put("/n", [1])
            let share = try await run.store.link(.share, to: entry, by: 2, lifetime: nil)
            let copy = try await run.store.link(.copy, to: entry, by: 2, lifetime: nil)
            try await run.store.setRole(.viewer, ofMember: "Ben")
            try await run.store.setRole(.editor, ofMember: "Ben")
            #expect(try await run.store.entry(.share, secret: share.secret, below: "") == nil)
            #expect(try await run.store.entry(.copy, secret: copy.secret, below: "") == entry)
            try await run.store.removeMember(name: "Ben")
            #expect(try await run.store.entry(.copy, secret: copy.secret, below: "") == nil)
        },
    ]

    static let history = [
        ClubStoreConformance("all versions are kept unless a time is set") { run in
            for number in 0..<3 { try await run.put("/a", [UInt8(number)]) }
            await run.days(400)
            #expect(try await run.revisions("/a") == [3, 2, 1])
            #expect(try await run.store.read { try $0.state.forgottenRevision() } == 0)
        },
        ClubStoreConformance(
            "a version goes so long after it was replaced, with its content; what is newest stays",
            HistorySettings(keep: 30 * day)
        ) { run in
            let old = try await run.put("/a", randomBytes(100_000, seed: 1))
            try await run.put("/live", [1])
            try await run.put("/gone", [2])
            try await run.delete("/gone")
            await run.days(100)
            #expect(try await run.revisions("/gone") == [4])
            try await run.put("/a", [3])
            await run.days(29)
            #expect(try await run.revisions("/a") == [5, 1])
            #expect(try await run.bytes(old).count == 100_000)
            await run.days(2)
            #expect(try await run.revisions("/a") == [5])
            await #expect(throws: StorageError.self) { try await run.bytes(old) }
            #expect(try await run.live() == ["/a", "/live"])
            #expect(try await run.store.usage(of: 1).used == 2)
        },
        ClubStoreConformance(
            "a cursor older than what was forgotten starts over, a newer one hears of every deletion",
            HistorySettings(keep: day)
        ) { run in
            let first = try await run.put("/a", [1])
            let early = JournalCursor(epoch: run.store.epoch, position: first.revision)
            try await run.delete("/a")
            for number in 2..<6 { try await run.put("/a", [UInt8(number)]) }
            let late = JournalCursor(epoch: run.store.epoch, position: try await run.lastRevision())
            await run.days(9)
            let limits = JournalLimits(entries: 9)
            await run.refused(410) { _ = try await run.store.journal(after: early, limits: limits) }
            try await run.delete("/a")
            let told = try await run.store.journal(after: late, limits: limits).page.entries
            #expect(told.map(\.isDeleted) == [true])
            let ends = try await run.store.read { try $0.state.current(first.node) }
            #expect(ends?.isDeleted == true, "an entry's last version stays though another entry has its path")
        },
        ClubStoreConformance(
            "clocks that jump and reboots make nothing go before its time has passed",
            HistorySettings(keep: 30 * day)
        ) { run in
            try await run.put("/a", [1])
            try await run.put("/a", [2])
            for jump in [3650, -7300, 20_000] {
                await run.days(2)
                run.clock.jump(Int64(jump) * day)
            }
            await run.days(2)
            run.clock.reboot(after: 365 * day)
            await run.keepHouse()
            #expect(try await run.revisions("/a") == [2, 1])
            await run.days(30)
            #expect(try await run.revisions("/a") == [2])
        },
        ClubStoreConformance(
            "old versions of a member beyond the quota go, the longest replaced first",
            HistorySettings(historyQuota: 1_000_000)
        ) { run in
            for number in 0..<3 {
                try await run.put("/mine\(number)", randomBytes(300_000, seed: 100 + UInt64(number)))
            }
            for number in 0..<3 {
                try await run.put("/mine\(number)", randomBytes(300_000, seed: 200 + UInt64(number)), by: 2)
            }
            for number in 0..<8 { try await run.put("/theirs", randomBytes(300_000, seed: UInt64(number)), by: 2) }
            #expect(run.store.statistics.replacedBytes == 10 * 300_000)
            await run.keepHouse()
            for number in 0..<3 { #expect(try await run.revisions("/mine\(number)").last == Int64(number + 1)) }
            #expect(try await run.revisions("/theirs").count == 4)
        },
        ClubStoreConformance("a content stays as long as any version has it", HistorySettings(keep: day)) { run in
            let bytes = randomBytes(100_000, seed: 1)
            try await run.put("/a", bytes)
            let copy = try await run.put("/b", bytes)
            try await run.delete("/a")
            await run.days(5)
            #expect(try await run.bytes(copy) == bytes)
            try await run.delete("/b")
            await run.days(5)
            #expect(try await run.store.collectContents() == 0)
            #expect(try await run.revisions("/b").count == 1)
            await #expect(throws: StorageError.self) { try await run.bytes(copy) }
        },
        ClubStoreConformance("a store counts its durable changes") { run in
            let before = run.store.statistics.commits
            for number in 0..<3 { try await run.put("/a", [UInt8(number)]) }
            let after = run.store.statistics.commits
            #expect(after.changes - before.changes == 3)
            #expect((1...3).contains(after.time.count - before.time.count))
        },
    ]
}
