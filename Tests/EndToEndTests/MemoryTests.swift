import ByteClubCore
import ByteClubHTTP
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Memory") struct MemoryTests {
        private static var sizes: [Int] {
            [64 << 20, 1 << 30] + (Settings.number("BYTECLUB_BIG") == nil ? [] : [4 << 30])
        }

        @Test("a large photo's upload and download need no more memory than a small one's", arguments: sizes)
        func largePhoto(bytes: Int) async throws {
            let club = try await Club.start()
            let ann = try await club.member("ann")
            let file = ann.home + "/large.jpg"
            let head = Fixture.bytes("panoramas/city.jpg")
            try LocalFiles.writeLarge(head: head, length: bytes, seed: UInt64(bytes), to: file)
            let upload = try await ann.byteclub("photos", "upload", file, timeout: .seconds(600))
            #expect(upload.status == 0, "\(upload)")
            let server = club.server.process?.currentPeakMemory() ?? 0
            #expect(
                upload.peakMemory > 0 && upload.peakMemory < 40_000_000, "the client held \(upload.peakMemory) bytes")
            #expect(server > 0 && server < 48_000_000, "the server held \(server) bytes")

            let copy = ann.home + "/copy.jpg"
            let download = try await ann.byteclub(
                "photos", "download", "large.jpg", "-o", copy, timeout: .seconds(600))
            #expect(download.status == 0, "\(download)")
            let serverAfter = club.server.process?.currentPeakMemory() ?? 0
            #expect(download.peakMemory < 40_000_000, "the client held \(download.peakMemory) bytes")
            // By now it may have made the photo's previews, too.
            #expect(serverAfter < 128_000_000, "the server held \(serverAfter) bytes")
            let compare = try await Program.run("/usr/bin/cmp", [file, copy], timeout: .seconds(120))
            #expect(compare.status == 0, "\(compare)")
            print(
                "\(bytes >> 20) MiB: up \(upload.seconds) s, down \(download.seconds) s; the client held "
                    + "\(upload.peakMemory >> 10) and \(download.peakMemory >> 10) KiB, the server \(serverAfter >> 10)"
            )
        }

        @Test("two thousand photos need hardly more memory than two hundred")
        func manyPhotos() async throws {
            let club = try await Club.start()
            let ann = try await club.member("ann")
            let photo = Fixture.bytes("panoramas/press.jpg")
            var peaks: [Int64] = []
            for count in [200, 2_000] {
                let folder = ann.home + "/\(count)"
                for number in 0..<count {
                    let tail = [UInt8](repeating: 32, count: number + count)
                    try LocalFiles.write(photo + tail, to: folder + "/\(count)-\(number).jpg")
                }
                let upload = try await ann.byteclub("photos", "upload", folder, timeout: .seconds(600))
                #expect(upload.status == 0 && upload.lines.count == count)
                peaks.append(upload.peakMemory)
            }
            #expect(peaks[0] > 0 && peaks[1] - peaks[0] < 20_000_000, "\(peaks)")
            print("photos upload of 200 and 2,000: \(peaks.map { $0 >> 10 }) KiB")
        }
    }
}
