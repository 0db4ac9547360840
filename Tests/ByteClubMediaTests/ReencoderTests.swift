import Glibc
import Testing

@testable import ByteClubMedia

@Suite struct ReencoderTests {
    @Test("a photo encoded again is smaller and keeps its size, tags, orientation and profile")
    func keeps() throws {
        let scratch = try Scratch()
        let photo = MakingJPEGs.with(try Photos.bytes("progressive"), exif: MakingJPEGs.exif(orientation: 3))
        let path = try scratch.write(photo, "photo.jpg")
        try Reencoder.reencode(file: path, quality: 60, to: scratch.path + "small.jpg")
        let before = try JPEGHeader(file: path)
        let after = try JPEGHeader(file: scratch.path + "small.jpg")
        #expect(try FileSource(path: scratch.path + "small.jpg").count < photo.count)
        #expect(after.width == before.width && after.height == before.height)
        #expect(after.orientation == 3)
        #expect(after.xmpPackets.first == before.xmpPackets.first)
        #expect(Panorama(header: after) == Panorama(header: before))
        let profile = try CarriedMetadata.profile(of: after, in: FileSource(path: scratch.path + "small.jpg"))
        #expect(profile != nil)
        #expect(try profile == CarriedMetadata.profile(of: before, in: FileSource(path: path)))
        #expect(Set(scratch.names) == ["photo.jpg", "small.jpg"])
    }

    @Test("a photo can be encoded again over itself")
    func inPlace() throws {
        let scratch = try Scratch()
        let path = try scratch.write(Photos.bytes("forest"), "photo.jpg")
        let before = try FileSource(path: path).count
        try Reencoder.reencode(file: path, quality: 40, to: path)
        #expect(try FileSource(path: path).count < before)
        #expect(scratch.names == ["photo.jpg"])
    }

    @Test("a failure leaves the target as it was and nothing beside it")
    func failure() throws {
        let scratch = try Scratch()
        let target = try scratch.write([1, 2, 3], "target.jpg")
        let error = #expect(throws: MediaError.self) {
            try Reencoder.reencode(file: Photos.path("not-a-photo"), quality: 60, to: target)
        }
        #expect(error?.code == .notAJPEG)
        #expect(try FileSource(path: target).readAll() == [1, 2, 3])
        #expect(throws: MediaError.self) {
            try Reencoder.reencode(file: Photos.path("partial"), quality: 60, to: scratch.path + "no/such.jpg")
        }
        _ = unsafe mkdir(scratch.path + "folder", 0o700)
        let refused = #expect(throws: MediaError.self) {
            try Reencoder.reencode(file: Photos.path("partial"), quality: 60, to: scratch.path + "folder")
        }
        #expect(refused?.code == .io)
        _ = unsafe rmdir(scratch.path + "folder")
        #expect(scratch.names == ["target.jpg"])
    }
}
