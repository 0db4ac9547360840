import ByteClubMedia
import FoundationEssentials
import TestSupport
import Testing

@testable import ByteClubCLI

@Suite("Pictures for terminals") struct PictureEncodingTests {
    private static let names = ["city.jpg", "phone-strip.jpg", "partial.jpg", "portrait.jpg"]

    /// A photo cut and scaled for a terminal, with its box.
    private static func picture(
        _ name: String, columns: Int, across: Int, down: Int
    ) throws -> (Picture, PictureBox) {
        let whole = try Picture(jpeg: Fixture.bytes("panoramas/" + name))
        let box = PictureBox(width: whole.width, height: whole.height, columns: columns, rows: 21)
        return (whole.cut(to: box).fitted(width: box.columns * across, height: box.rows * down), box)
    }

    @Test("half blocks decode to 25 dB, and 80 columns of a panorama take 16 KiB at most", arguments: names)
    func halfBlocks(_ name: String) throws {
        for hasTrueColor in [true, false] {
            let (picture, box) = try Self.picture(name, columns: 80, across: 1, down: 2)
            let bytes = HalfBlockPicture.bytes(picture, hasTrueColor: hasTrueColor)
            let drawn = try #require(
                DrawnPicture(halfBlocks: bytes, width: picture.width, height: picture.height))
            #expect(drawn.psnr(to: picture) >= 25, "\(drawn.psnr(to: picture)) dB")
            #expect(bytes.filter { $0 == 0x0A }.count == box.rows)
            if name != "portrait.jpg" { #expect(bytes.count <= 16 << 10 && box.columns == 80 && box.rows <= 12) }
        }
    }

    @Test("kitty gets the very PNG, in pieces of at most 4096 letters, and is asked for no answer")
    func kitty() throws {
        let png = try Self.picture("city.jpg", columns: 40, across: 8, down: 16).0.png()
        let bytes = TerminalPicture.kitty(png: png, PictureBox(columns: 40, rows: 5))
        let pieces = String(decoding: bytes, as: UTF8.self).split(separator: "\u{1B}_G").dropFirst()
        var text: [UInt8] = []
        for (index, piece) in pieces.enumerated() {
            let parts = piece.split(separator: ";", maxSplits: 1)
            let data = try #require(parts.last).prefix { $0 != "\u{1B}" }
            let keys = try #require(parts.first)
            #expect(data.utf8.count <= 4096 && keys.contains("q=2"))
            #expect(keys.hasSuffix(index == pieces.count - 1 ? "m=0" : "m=1"))
            #expect(index > 0 || keys.hasPrefix("a=T,f=100,q=2,C=1,c=40,r=5,"))
            text += data.utf8
        }
        #expect(pieces.count > 1 && Data(base64Encoded: Data(text)) == Data(png))
    }

    @Test("iTerm2 gets the very JPEG of the server")
    func iTerm() throws {
        let jpeg = Fixture.bytes("panoramas/city.jpg")
        let bytes = TerminalPicture.iterm(file: jpeg, PictureBox(columns: 80, rows: 12))
        let colon = try #require(bytes.firstIndex(of: UInt8(ascii: ":")))
        #expect(bytes.starts(with: Array("\u{1B}]1337;File=inline=1;size=\(jpeg.count);width=80;".utf8)))
        #expect(Data(base64Encoded: Data(bytes[(colon + 1)...].dropLast(2))) == Data(jpeg))
        #expect(bytes.suffix(2) == [0x07, 0x0A])
    }

    @Test("any small picture fits its terminal, and is drawn and read back")
    func anyPicture() throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<60 {
            let (width, height) = (Int.random(in: 1...40, using: &random), Int.random(in: 1...40, using: &random))
            let rgb = (0..<width * height * 3).map { _ in UInt8.random(in: 0...255, using: &random) }
            let picture = try #require(Picture(width: width, height: height, rgb: rgb))
            let (columns, rows) = (Int.random(in: 1...60, using: &random), Int.random(in: 1...30, using: &random))
            let box = PictureBox(width: width, height: height, columns: columns, rows: rows)
            #expect((1...columns).contains(box.columns) && (1...max(rows, 12)).contains(box.rows), "seed \(seed)")
            _ = picture.cut(to: box)
            let blocks = HalfBlockPicture.bytes(picture, hasTrueColor: true)
            #expect(DrawnPicture(halfBlocks: blocks, width: width, height: height) != nil, "seed \(seed)")
        }
    }
}
