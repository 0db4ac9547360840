import ByteClubCore
import ByteClubMedia
import TestSupport
import Testing

@testable import ByteClubCLI

@Suite("Marks in pictures") struct PictureMarksTests {
    private static let grey = UInt8(90)

    private static func picture(_ width: Int, _ height: Int) throws -> Picture {
        try #require(
            Picture(width: width, height: height, rgb: [UInt8](repeating: grey, count: width * height * 3)))
    }

    /// Half blocks without their colours, as lines.
    private static func lines(_ bytes: [UInt8]) -> [String] {
        String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { line in
            line.split(separator: "\u{1B}[", omittingEmptySubsequences: false).enumerated()
                .map { index, part in index == 0 ? part : part.drop { $0 != "m" }.dropFirst() }.joined()
        }
    }

    @Test("in half blocks a mark is text over the cell of its place, and no line is longer for it")
    func blocks() throws {
        let picture = try Self.picture(40, 24)
        let marks = [PictureMark(text: "1", x: 0.25, y: 0.5), PictureMark(text: "12", x: 0.999, y: 0)]
        let bytes = HalfBlockPicture.bytes(picture, marks: marks, hasTrueColor: true)
        let lines = Self.lines(bytes)
        #expect(lines.count == 12 && lines.allSatisfy { $0.count == 40 })
        #expect(lines[6].dropFirst(9).hasPrefix(" 1 ") && lines[0].hasSuffix(" 12 "))
        #expect(String(decoding: bytes, as: UTF8.self).contains("\u{1B}[38;5;16;48;5;220m 1 "))
        let bare = HalfBlockPicture.bytes(picture, hasTrueColor: true)
        #expect(DrawnPicture(halfBlocks: bare, width: 40, height: 24) != nil)
    }

    @Test("in pixels a mark has a box around its digits in the middle of its place, and nothing else is changed")
    func pixels() throws {
        let picture = try Self.picture(200, 100)
        let drawn = picture.marked([PictureMark(text: "7", x: 0.5, y: 0.5)], scale: 2)
        var (columns, rows, yellow): (Set<Int>, Set<Int>, Int) = ([], [], 0)
        for row in 0..<100 {
            for column in 0..<200 {
                let pixel = drawn.pixel(column, row)
                if pixel == RGB(red: Self.grey, green: Self.grey, blue: Self.grey) { continue }
                columns.insert(column)
                rows.insert(row)
                if pixel == PictureMark.ground { yellow += 1 } else { #expect(pixel == PictureMark.ink) }
            }
        }
        #expect(columns == Set(93..<107) && rows == Set(41..<59) && yellow > 50)
        // The digit's upper bar, and the ground below it to the left.
        #expect(drawn.pixel(98, 45) == PictureMark.ink && drawn.pixel(98, 49) == PictureMark.ground)
        #expect(picture.marked([], scale: 2) == picture)
        // A picture that is smaller than a mark is left as it is.
        let small = try Self.picture(5, 5)
        #expect(small.marked([PictureMark(text: "1", x: 0, y: 0)], scale: 1) == small)
    }

    @Test("marks are wholly in the picture and cover no other")
    func places() {
        let seed = UInt64.random(in: .min ... .max)
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            let (width, height) = (Int.random(in: 1...90, using: &random), Int.random(in: 1...40, using: &random))
            let marks = (0..<Int.random(in: 0...30, using: &random)).map { number in
                PictureMark(
                    text: String(number), x: .random(in: -0.1...1.1, using: &random),
                    y: .random(in: -0.1...1.1, using: &random))
            }
            let places = MarkPlace.places(of: marks, width: width, height: height) { ($0.count + 2, 1) }
            for (index, place) in places.enumerated() {
                #expect(
                    place.column >= 0 && place.row >= 0 && place.column + place.width <= width
                        && place.row + place.height <= height, "seed \(seed)")
                #expect(!places[..<index].contains(where: place.touches), "seed \(seed)")
            }
        }
        let odd = [PictureMark(text: "1", x: .nan, y: 0), PictureMark(text: "2", x: .infinity, y: 0)]
        #expect(MarkPlace.places(of: odd, width: 9, height: 9) { _ in (1, 1) }.isEmpty)
    }
}
