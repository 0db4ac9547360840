import ByteClubHTTP
import ByteClubRemotes
import HTTPTypes
import TestSupport
import Testing

extension EndToEnd {
    @Suite("The real server over HTTP is a remote") struct RemoteConformanceTests {
        @Test("each claim about remotes holds, thumbnails of real panoramas among them")
        func conforms() async throws {
            let club = try await Club.start()
            let tokens = try await (club.server.addMember("ann"), club.server.addMember("bo"))
            let ann = try Self.remote(club, tokens.0)
            let bo = try Self.remote(club, tokens.1)
            for claim in RemoteConformance.cases + RemoteConformance.syncCases {
                do {
                    try await claim.run(ann, bo)
                } catch {
                    Issue.record(error, "\(claim)")
                }
            }
        }

        @Test("each panorama's thumbnail is a JPEG that fits its box, the same each time")
        func thumbnails() async throws {
            let club = try await Club.start()
            for name in Sample.panoramas {
                let photo = Fixture.bytes("panoramas/" + name)
                #expect(try await club.api.put(photo, "/byteclub/photos/\(name)").status == 200)
                for (size, box) in [("xs", (32, 32)), ("m", (128, 128)), ("xl", (1024, 768))] {
                    let target = "/1/thumbnails/dropbox/byteclub/photos/\(name)?size=\(size)"
                    let answer = try await club.api.send(.get, target)
                    let pixels = try #require(JPEGSize(answer.bytes), "\(name), \(size): \(answer.status)")
                    #expect(pixels.width <= box.0 && pixels.height <= box.1, "\(name), \(size): \(pixels)")
                    // Never enlarged; a camera's turn may have swapped the sides.
                    let whole = JPEGSize(photo).map { [$0.width, $0.height].sorted() }
                    let fills = pixels.width == box.0 || pixels.height == box.1
                    #expect(fills || [pixels.width, pixels.height].sorted() == whole, "\(name), \(size): \(pixels)")
                    #expect(try await club.api.send(.get, target).bytes == answer.bytes)
                }
            }
            let text = Array("no photo, whatever its name says".utf8)
            #expect(try await club.api.put(text, "/byteclub/photos/text.jpg").status == 200)
            let undecodable = try await club.api.send(.get, "/1/thumbnails/dropbox/byteclub/photos/text.jpg")
            #expect(undecodable.status == 415, "\(undecodable)")
        }

        private static func remote(_ club: Club, _ token: String) throws -> CoreAPIv1Remote {
            let session = try Session(
                configuration: CoreAPIv1Remote.sessionConfiguration(token: token), name: "conformance")
            return try CoreAPIv1Remote(origin: club.server.url, api: session)
        }
    }
}

/// The pixels of a JPEG as its frame header tells them.
struct JPEGSize: Equatable {
    let width: Int
    let height: Int

    /// Finds the frame header; nil when there is none.
    init?(_ bytes: [UInt8]) {
        guard bytes.starts(with: [0xFF, 0xD8]) else { return nil }
        var index = 2
        while index + 9 < bytes.count, bytes[index] == 0xFF {
            let marker = bytes[index + 1]
            if (0xC0...0xC2).contains(marker) {
                height = Int(bytes[index + 5]) << 8 | Int(bytes[index + 6])
                width = Int(bytes[index + 7]) << 8 | Int(bytes[index + 8])
                return
            }
            index += 2 + (Int(bytes[index + 2]) << 8 | Int(bytes[index + 3]))
        }
        return nil
    }
}
