import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubServer

extension ClubStoreConformance {
    static let photos = [
        ClubStoreConformance(
            "photos are found by kind, time and place, the newest first, and what they were not is not"
        ) { run in
            let club = try await PhotoClub(run)
            #expect(try await club.names(PhotoFilter(kinds: [.sphere])) == ["b.jpg", "a.jpg"])
            #expect(try await club.names(PhotoFilter(kinds: [.strip, .sphere])) == ["c.jpeg", "b.jpg", "a.jpg"])
            #expect(try await club.names(PhotoFilter(kinds: [.cylinder])).isEmpty)
            #expect(try await club.names(PhotoFilter(kinds: [])).isEmpty)
            let (since, until) = (APIDate(seconds: 200), APIDate(seconds: 300))
            #expect(try await club.names(PhotoFilter(since: since, until: until)) == ["b.jpg"])
            #expect(try await club.names(PhotoFilter(until: until)) == ["b.jpg", "a.jpg"])
            #expect(
                try await club.names(PhotoFilter(since: since)) == ["new.png", "plain.jpg", "c.jpeg", "b.jpg"])
            let near = try #require(GeographicCircle("46,179.95,20"))
            #expect(try await club.names(PhotoFilter(near: near)) == ["b.jpg", "a.jpg"])
            #expect(try await club.names(PhotoFilter(kinds: [.sphere], since: since, near: near)) == ["b.jpg"])
            #expect(try await club.names(PhotoFilter(kinds: [.flat], near: near)).isEmpty)
            #expect(try await club.names(PhotoFilter(), limit: 2) == ["new.png", "plain.jpg"])
        },
        ClubStoreConformance("a search for photos looks below one folder, and at names when it is told some") { run in
            let club = try await PhotoClub(run)
            try await run.move("/p/a.jpg", to: "/q/Ridge.jpg")
            let spheres = PhotoFilter(kinds: [.sphere])
            #expect(try await club.names(spheres, below: "/q") == ["Ridge.jpg"])
            #expect(try await club.names(spheres, below: "/p") == ["b.jpg"])
            #expect(try await club.names(spheres, below: "/").sorted() == ["Ridge.jpg", "b.jpg"])
            #expect(try await club.names(spheres, named: "RIDGE", below: "/") == ["Ridge.jpg"])
            try await run.move("/q", to: "/r")
            #expect(try await club.names(spheres, below: "/r") == ["Ridge.jpg"])
            await run.refused(404) { _ = try await club.names(spheres, below: "/q") }
            await run.refused(404) { _ = try await club.names(spheres, below: "/none") }
        },
        ClubStoreConformance("a caption's view is the photo's kind, as long as the caption says so and is there") {
            run in
            let club = try await PhotoClub(run)
            let cylinders = PhotoFilter(kinds: [.cylinder])
            try await run.put("/p/A.jpg.md", Array("---\nview: cylinder\n---\nx".utf8))
            #expect(try await club.names(cylinders) == ["a.jpg"])
            #expect(try await club.names(PhotoFilter(kinds: [.sphere])) == ["b.jpg"])
            let key = try RemotePath("/p/a.jpg").key
            #expect(try await run.store.captionViews(of: [key]) == [key: .cylinder])
            try await run.put("/p/a.jpg.md", Array("no view".utf8))
            #expect(try await club.names(cylinders).isEmpty)
            #expect(try await run.store.captions(of: [key]) == [key: Array("no view".utf8)])
            #expect(try await run.store.captionViews(of: [key]).isEmpty)
            // A text that is known already, and a note that becomes a caption.
            try await run.put("/p/c.jpeg.md", Array("---\nview: cylinder\n---\nx".utf8))
            try await run.put("/p/note.md", Array("---\nview: flat\n---\n".utf8))
            try await run.move("/p/note.md", to: "/p/b.jpg.md")
            #expect(try await club.names(cylinders) == ["c.jpeg"])
            #expect(try await club.names(PhotoFilter(kinds: [.flat])) == ["plain.jpg", "b.jpg"])
            try await run.delete("/p/b.jpg.md")
            try await run.move("/p", to: "/moved")
            #expect(try await club.names(PhotoFilter(kinds: [.sphere]), below: "/moved") == ["b.jpg", "a.jpg"])
            #expect(try await club.names(cylinders, below: "/moved") == ["c.jpeg"])
            // Without its kind a photo is of none.
            try await run.put("/moved/unknown.jpg", [77])
            try await run.put("/moved/unknown.jpg.md", Array("---\nview: cylinder\n---\nx".utf8))
            #expect(try await club.names(cylinders, below: "/moved") == ["c.jpeg"])
        },
        ClubStoreConformance("photos that nobody has looked into are told until somebody has") { run in
            let club = try await PhotoClub(run)
            func unread(_ path: String = "/", limit: Int = 9) async throws -> [String] {
                try await run.store.unreadPhotos(below: RemotePath(path), limit: limit).map(\.path.name)
            }
            #expect(try await unread() == ["new.png"])
            #expect(try await unread("/q").isEmpty)
            try await run.put("/q/other.jpg", [78])
            #expect(try await unread() == ["other.jpg", "new.png"])
            #expect(try await unread(limit: 1) == ["other.jpg"])
            try await club.tell([78], nil, taken: nil)
            #expect(try await unread() == ["new.png"])
            try await run.delete("/p/new.png")
            #expect(try await unread().isEmpty)
        },
        ClubStoreConformance("the gallery has photos of some kinds alone when it is asked for them, page by page") {
            run in
            let club = try await PhotoClub(run)
            _ = club
            let all = try await run.store.gallery(.older(than: .newest), of: .panoramas, limit: 9)
            #expect(all.map(\.entry.path.name) == ["c.jpeg", "b.jpg", "a.jpg"])
            let rest = try await run.store.gallery(.older(than: all[0].place), of: .panoramas, limit: 1)
            #expect(rest == [all[1]])
            let before = try await run.store.gallery(.newer(than: all[2].place), of: .panoramas, limit: 9)
            #expect(before == [all[1], all[0]])
        },
        ClubStoreConformance("each month that has notes or photos is told once, by its newest, the newest month first")
        {
            run in
            let club = try await PhotoClub(run)
            #expect(try await run.store.galleryMonths().count == 1)
            try await run.put("/x.jpg", [90])
            try await run.put("/y.jpg", [91])
            // 2013-08-05 and the first and last seconds of 2013-08 and 2013-07.
            try await club.tell([90], .flat, taken: 1_375_315_200)
            try await club.tell([91], .flat, taken: 1_375_315_199)
            try await club.tell([4], .flat, taken: 1_375_720_812)
            let months = try await run.store.galleryMonths()
            #expect(months.count == 3 && months.prefix(2).map(\.seconds) == [1_375_720_812, 1_375_315_199])
        },
    ]
}

/// Photos of which most is known.
private struct PhotoClub {
    let run: ClubStoreRun

    init(_ run: ClubStoreRun) async throws {
        self.run = run
        for (name, bytes) in [("a.jpg", 1), ("b.jpg", 2), ("c.jpeg", 3), ("plain.jpg", 4), ("d.jpg", 5)] {
            try await run.put("/p/" + name, [UInt8(bytes)])
        }
        try await tell([1], .sphere, taken: 100, MediaInfo.Place(latitude: 46, longitude: 179.9))
        try await tell([2], .sphere, taken: 200, MediaInfo.Place(latitude: 46.1, longitude: -179.9))
        try await tell([3], .strip, taken: 300, MediaInfo.Place(latitude: -46, longitude: 179.9))
        try await tell([4], .flat, taken: nil)
        try await run.put("/p/notes.md", [6])
        try await run.put("/p/new.png", [7])
        try await run.delete("/p/d.jpg")
    }

    func tell(
        _ bytes: [UInt8], _ kind: PhotoShape.Kind?, taken: Int64?, _ place: MediaInfo.Place? = nil
    ) async throws {
        let shape = kind.map { PhotoShape(kind: $0, width: 2000, height: 1000) }
        let info = MediaInfo(taken: taken.map { TakenTime(clock: APIDate(seconds: $0)) }, place: place, shape: shape)
        try await run.store.keep([ContentHasher.hash(bytes): info])
    }

    func names(
        _ filter: PhotoFilter, named query: String? = nil, below path: String = "/p", limit: Int = 99
    ) async throws -> [String] {
        try await run.store.photos(
            below: RemotePath(path), matching: filter, named: query.map { try SearchQuery($0) }, limit: limit
        ).map(\.path.name)
    }
}
