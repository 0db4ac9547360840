import ByteClubCore
import Testing

@testable import ByteClubServer

extension ClubStoreConformance {
    static let gallery = [
        ClubStoreConformance("the gallery has notes and photos by date, the newest first, page by page") { run in
            for name in ["a.md", "b.JPG", "c.txt", "d.pdf", "e/f.jpeg", "e/.hidden"] {
                run.clock.advance(10)
                try await run.put("/" + name, Array(name.utf8))
            }
            try await run.put("/gone.md", [1])
            try await run.delete("/gone.md")
            let all = try await run.store.gallery(.older(than: .newest), of: .all, limit: 100)
            #expect(all.map(\.entry.path.string) == ["/e/f.jpeg", "/c.txt", "/b.JPG", "/a.md"])
            #expect(all.map(\.isPhoto) == [true, false, true, false])
            #expect(all.map(\.text) == [nil, Array("c.txt".utf8), nil, Array("a.md".utf8)])
            var place = GalleryPlace.newest
            for item in all {
                #expect(try await run.store.gallery(.older(than: place), of: .all, limit: 1) == [item])
                place = item.place
            }
            #expect(try await run.store.gallery(.older(than: place), of: .all, limit: 1).isEmpty)
            #expect(try await run.store.gallery(.newer(than: all[2].place), of: .all, limit: 1) == [all[1]])
            #expect(try await run.store.gallery(.newer(than: all[2].place), of: .all, limit: 9) == [all[1], all[0]])
        },
        ClubStoreConformance("a photo is where it was taken in time, and where many are of one second none is lost") {
            run in
            try await run.put("/old.jpg", [1])
            let photo = try await run.put("/taken.jpg", [2])
            for number in 0..<9 { try await run.put("/\(number).md", [UInt8(number)]) }
            let hash = try #require(photo.contentHash)
            try await run.store.keep([hash: MediaInfo(taken: TakenTime(clock: APIDate(seconds: 1000)))])
            var (place, names): (GalleryPlace, [String]) = (.newest, [])
            while true {
                let page = try await run.store.gallery(.older(than: place), of: .all, limit: 4)
                guard let last = page.last else { break }
                names += page.map(\.entry.path.name)
                place = last.place
            }
            #expect(names.count == 11 && Set(names).count == 11)
            #expect(names.last == "taken.jpg" && place.seconds == 1000)
        },
        ClubStoreConformance("a caption is told with its photo, and is a note where there is no such photo") { run in
            try await run.put("/Ridge.jpg", [1])
            try await run.put("/ridge.JPG.md", Array("The ridge".utf8))
            try await run.put("/lost.jpg.md", Array("No photo".utf8))
            func texts() async throws -> [String: [UInt8]?] {
                let items = try await run.store.gallery(.older(than: .newest), of: .all, limit: 100)
                return Dictionary(uniqueKeysWithValues: items.map { ($0.entry.path.name, $0.text) })
            }
            #expect(
                try await texts() == ["Ridge.jpg": Array("The ridge".utf8), "lost.jpg.md": Array("No photo".utf8)])
            try await run.delete("/ridge.JPG.md")
            #expect(try await texts() == ["Ridge.jpg": nil, "lost.jpg.md": Array("No photo".utf8)])
        },
    ]
}

extension GalleryStore {
    /// The items of some kinds in the whole gallery.
    func gallery(_ side: GallerySide, of content: GalleryFilter.Content, limit: Int) async throws -> [GalleryItem] {
        try await gallery(side, matching: GalleryFilter(content: content), limit: limit).items
    }

    /// The newest date of each month.
    func galleryMonths() async throws -> [APIDate] {
        try await gallery(.older(than: .newest), matching: GalleryFilter(), limit: 1).months
    }
}
