import ByteClubCore
import Foundation
import GRDB
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("The timeline")
struct TimelineTests {
    private struct Index: Decodable {
        let revision: Int64
        let step: Int
        let photos: Int
        let notes: Int
        let marks: [String]
        let days: [Part]

        /// A day's number or its ratios, which take turns.
        enum Part: Decodable {
            case number(Int)
            case ratios([Int])

            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                if let number = try? container.decode(Int.self) {
                    self = .number(number)
                } else {
                    self = .ratios(try container.decode([Int].self))
                }
            }
        }

        var ratios: [Int] {
            days.flatMap { part -> [Int] in
                switch part {
                case .number: []
                case .ratios(let ratios): ratios
                }
            }
        }
    }

    private struct Items: Decodable {
        struct Item: Decodable {
            let url: String
            let day: Int
            let ratio: Int
            let hash: String?
            let width: Int?
            let badge: String?
            let alt: String?
            let caption: String?
            let title: String?
            let text: String?
            let colours: String?
        }

        let items: [Item]
    }

    private static func get<T: Decodable>(
        _ target: String, _ browser: Browser, as type: T.Type = T.self
    ) async throws -> T {
        let answer = try await browser.server.send("GET \(target)", ["Cookie: \(browser.cookie ?? "")"])
        #expect(answer.status == 200 && answer["content-type"] == "application/json", "\(target): \(answer.text)")
        #expect(answer["cache-control"] == "no-store")
        return try JSONDecoder().decode(T.self, from: Data(answer.body))
    }

    private static func put(_ server: TestServer, _ path: String, _ fixture: String) async throws {
        let target = "PUT /1/files_put/auto\(path)"
        #expect(try await server.send(target, body: Fixture.bytes("panoramas/\(fixture).jpg")).status == 200)
    }

    @Test("the index has the shape of everything, and the items between its marks are those it counts")
    func index() async throws {
        try await TestServer.run { server in
            for number in 0..<130 { try await server.store("/n\(number).md", "# Note *\(number)*\n\nand [more](x.md)") }
            try await Self.put(server, "/wide.jpg", "phone-strip")
            let browser = try await GalleryTests.browser(server)
            _ = try await server.get("/1/metadata/auto/?include_media_info=true")
            let index: Index = try await Self.get("/gallery/index", browser)
            #expect(index.ratios.count == 131 && index.ratios.count { $0 == 0 } == 130)
            #expect(index.marks.count == 2 && index.step == 60)
            var found: [Items.Item] = []
            for mark in [nil] + index.marks {
                let query = mark.map { "&before=\($0)" } ?? ""
                found += try await Self.get("/gallery/items?limit=60\(query)", browser, as: Items.self).items
            }
            #expect(found.map(\.ratio) == index.ratios && Set(found.map(\.url)).count == 131)
            let note = try #require(found.first { $0.url == "/gallery/n7.md" })
            #expect(note.title == "Note 7" && note.text == "and more")
            let photo = try #require(found.first { $0.hash != nil })
            #expect(photo.url == "/gallery/wide.jpg" && photo.badge == "panorama" && photo.ratio > 200)
        }
    }

    @Test("what was added since a revision is counted, and a change of what was there is not")
    func news() async throws {
        try await TestServer.run { server in
            try await server.store("/old.md", "old")
            let browser = try await GalleryTests.browser(server)
            let before: Index = try await Self.get("/gallery/index", browser)
            try await server.store("/old.md", "changed")
            try await server.store("/new.md", "new")
            try await Self.put(server, "/a.jpg", "portrait")
            try await Self.put(server, "/b.jpg", "press")
            let after: Index = try await Self.get("/gallery/index?since=\(before.revision)", browser)
            #expect(after.photos == 2 && after.notes == 1 && after.revision > before.revision)
        }
    }

    @Test("filters hold for the page, its index and its items, and each can be taken away by a link")
    func filters() async throws {
        try await TestServer.run { server in
            for (name, fixture) in [("dated", "dated"), ("strip", "phone-strip"), ("plain", "portrait")] {
                try await Self.put(server, "/trip/\(name).jpg", fixture)
            }
            try await server.store("/trip/plain.jpg.md", "A marmot by the brook")
            try await server.store("/a.md", "Marmots sleep in winter")
            try await server.store("/b.md", "Something else")
            _ = try await server.get("/1/metadata/auto/trip?include_media_info=true")
            var browser = try await GalleryTests.browser(server)
            for (query, expected) in [
                ("show=photos", ["dated", "plain", "strip"]), ("show=panoramas", ["strip"]),
                ("show=notes", ["a", "b"]),
                ("q=marmot", ["a", "plain"]), ("q=marmot&show=photos", ["plain"]), ("q=strip", ["strip"]),
                ("q=nowhere", []), ("from=2013-08&to=2013-08", ["dated"]), ("to=2013-07", []),
                ("who=1", ["a", "b", "dated", "plain", "strip"]), ("who=99", []), ("near=0,0,1", []),
            ] {
                try await browser.open("/gallery?\(query)")
                let names = browser.page.matches(of: /<a href="\/gallery\/(?:trip\/)?([a-z]+)\.[a-z.]+"/)
                    .map { String($0.1) }
                #expect(browser.status == 200 && names.sorted() == expected, "\(query): \(names)")
                let items: Items = try await Self.get("/gallery/items?\(query)", browser)
                #expect(items.items.count == expected.count, "\(query)")
                let index: Index = try await Self.get("/gallery/index?\(query)", browser)
                #expect(index.ratios == items.items.map(\.ratio), "\(query)")
            }
            try await browser.open("/gallery?q=marmot&show=photos")
            let all = try #require(browser.page.firstMatch(of: /<a href="([^"]*)" title="Remove this filter"/)?.1)
            #expect(all == "/gallery?show=photos")
            for query in ["show=x", "near=x", "from=2013", "to=2013-13", "who=me", "before=1", "before=1.1&after=1.1"] {
                try await browser.open("/gallery?\(query)")
                #expect(browser.status == 404, "\(query)")
            }
        }
    }

    @Test("a page tells of its items what its script would ask for")
    func first() async throws {
        try await TestServer.run { server in
            try await Self.put(server, "/wide.jpg", "phone-strip")
            try await Self.put(server, "/dated.jpg", "dated")
            try await server.store("/note.md", "A note")
            _ = try await server.get("/1/metadata/auto/?include_media_info=true")
            var browser = try await GalleryTests.browser(server)
            try await browser.open("/gallery")
            let items = try await Self.get("/gallery/items", browser, as: Items.self).items
            let ratios = browser.page.matches(of: /<li[^>]* data-ratio="(-?[0-9]+)"/).map { Int($0.1) }
            #expect(ratios == items.map(\.ratio) && ratios.count == 3)
            let days = browser.page.matches(of: /data-day="(-?[0-9]+)"/).map { Int($0.1) }
            #expect(Set(days) == Set(items.map(\.day)) && days.count == Set(days).count)
            let sizes = browser.page.matches(of: /srcset="[^"]+" sizes="\(min-width: 600px\) [0-9]+px, [0-9]+px"/)
            #expect(sizes.count == 2)
        }
    }

    @Test("photos near a place are found, and others in the square around the circle are not")
    func near() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        for (number, place) in [(50.0, 6.0), (50.08, 6.12), (50.2, 6.0)].enumerated() {
            let entry = try await fixture.put("/\(number).jpg", [UInt8(number)])
            let hash = try #require(entry.contentHash)
            try await store.keep([
                hash: MediaInfo(
                    place: MediaInfo.Place(latitude: place.0, longitude: place.1),
                    shape: PhotoShape(kind: .flat, width: 3, height: 2))
            ])
        }
        var filter = GalleryFilter()
        filter.near = GeographicCircle("50,6,10")
        let page = try await store.gallery(.older(than: .newest), matching: filter, limit: 9)
        #expect(page.items.map(\.entry.path.name) == ["0.jpg"])
        #expect(try await store.galleryIndex(matching: filter, newSince: nil).days.map(\.ratios) == [[150]])
    }

    @Test("albums are the folders with photos, and each is the part of the gallery in it")
    func albums() async throws {
        try await TestServer.run { server in
            let evil = "<b>'\""
            try await Self.put(server, "/alps/a.jpg", "portrait")
            try await Self.put(server, "/alps/\(PercentEncoding.encode(evil))/b.jpg", "press")
            try await Self.put(server, "/c.jpg", "night")
            try await server.store("/alps/day.md", "Day one")
            try await server.store("/notes/only.md", "x")
            var browser = try await GalleryTests.browser(server, "Vera", .viewer)
            try await browser.open("/albums")
            #expect(browser.status == 200 && !browser.page.contains(evil) && !browser.page.contains("/albums/notes"))
            let links = browser.page.matches(of: /<li><a href="([^"]*)">/).map { String($0.1) }
            #expect(
                Set(links) == ["/albums/alps", "/albums/alps/%3Cb%3E%27%22", "/gallery?show=photos"], "\(links)")
            #expect(browser.page.contains("1 photo"))
            for (page, names) in [("/albums/alps", ["a.jpg", "b.jpg", "day.md"]), (links[0], nil)] {
                try await browser.open(page)
                #expect(browser.status == 200)
                guard let names else { continue }
                for name in names { #expect(browser.page.contains("/\(name)\""), "\(name)") }
                #expect(!browser.page.contains("c.jpg") && !browser.page.contains("only.md"))
                #expect(browser.page.contains("data-query=\"in=%2Falps\""))
            }
            let items: Items = try await Self.get("/gallery/items?in=%2Falps&show=photos", browser)
            #expect(items.items.count == 2)
            try await browser.open("/albums/nowhere")
            #expect(browser.status == 404)
        }
    }

    @Test("the page asks the database four times in one snapshot, however much there is")
    func statements() async throws {
        let fixture = try StoreFixture()
        for number in 0..<70 { try await fixture.put("/\(number).jpg", [UInt8(number)]) }
        let lines = LogLines()
        try await eventually("a connection that is looked at does the work") {
            try await fixture.store.pool.read { database in database.trace { lines.add($0.description) } }
            let page = try await fixture.store.gallery(.older(than: .newest), matching: GalleryFilter(), limit: 61)
            #expect(page.items.count == 61)
            return lines.all.contains { $0.contains("gallery_item") }
        }
        let selects = lines.all.filter { $0.contains("SELECT") }
        #expect(Set(selects).count <= 4, "\(selects)")
    }

    @Test("a photo that has previews gets colours for the time until it is there")
    func placeholders() async throws {
        let colours = try #require(Placeholder.make(of: Fixture.bytes("panoramas/portrait.jpg")))
        #expect(colours.count == 24 && Set(colours).count > 1)
        #expect(Placeholder.make(of: [1, 2, 3]) == nil)
        let fixture = try StoreFixture()
        let entry = try await fixture.put("/a.jpg", [1])
        let hash = try #require(entry.contentHash)
        #expect(try await fixture.store.withoutPlaceholders([hash]).isEmpty)
        try await fixture.store.keep([hash: MediaInfo(shape: PhotoShape(kind: .flat, width: 3, height: 2))])
        #expect(try await fixture.store.withoutPlaceholders([hash]) == [hash])
        try await fixture.store.keep(placeholders: [hash: colours])
        #expect(try await fixture.store.withoutPlaceholders([hash]).isEmpty)
        let page = try await fixture.store.gallery(.older(than: .newest), matching: GalleryFilter(), limit: 1)
        #expect(page.items.first?.placeholder == colours && page.items.first?.shape?.width == 3)
    }
}
