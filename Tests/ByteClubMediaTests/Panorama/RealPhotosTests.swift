import Testing

@testable import ByteClubMedia

/// Some seventy photos of cameras, phones and archives, and what is made of them, held against ExifTool's numbers; they
/// are there once `Tests/Tools/photo-kinds` has run.
@Suite(.enabled(if: Photos.kinds != nil)) struct RealPhotosTests {
    private struct Row {
        let name: String
        let kind: String
        /// hFOV, vFOV, yaw, pitch; empty for what is nothing to look around in.
        let angles: [Double]
        let heading: Double?
        let orientation: Int?

        init?(_ line: Substring) {
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
            guard fields.count == 8 else { return nil }
            (name, kind) = (String(fields[0]), String(fields[1]))
            angles = fields[2..<6].compactMap { Double($0) }
            (heading, orientation) = (Double(fields[6]), Int(fields[7]))
        }
    }

    @Test("real photos and what is made of them are told right, and their share copies alike")
    func table() throws {
        let directory = try #require(Photos.kinds)
        let table = String(decoding: try FileSource(path: directory + "kinds.tsv").readAll(), as: UTF8.self)
        let rows = table.split(separator: "\n").compactMap(Row.init)
        #expect(rows.count >= 70)
        let scratch = try Scratch()
        for row in rows {
            let header = try JPEGHeader(file: directory + row.name)
            let panorama = Panorama(header: header)
            #expect(panorama.kind.rawValue == row.kind, "\(row.name): \(panorama.why)")
            #expect(panorama.orientation == row.orientation, "\(row.name)")
            if !row.angles.isEmpty {
                let angles = [panorama.hFOV ?? -1, panorama.vFOV ?? -1, panorama.yaw, panorama.pitch]
                #expect(zip(angles, row.angles).allSatisfy { abs($0 - $1) < 0.1 }, "\(row.name): \(angles)")
                #expect(panorama.heading == row.heading, "\(row.name)")
            }
            let copy = scratch.path + "copy.jpg"
            try ShareCopy.write(file: directory + row.name, to: copy, keepsDate: true)
            #expect(Panorama(header: try JPEGHeader(file: copy)) == panorama, "\(row.name)")
            let (before, after) = (try PhotoDetails(file: directory + row.name), try PhotoDetails(file: copy))
            #expect(after.place == nil && after.make == nil && after.model == nil, "\(row.name)")
            #expect(before.time?.exifDate == after.time?.exifDate && after.time?.zone == nil, "\(row.name)")
        }
    }
}
