import ByteClubCore
import Testing

/// Places in a photo that lead to others.
struct HotSpotTests {
    private static let photo = "/byteclub/photos/trip/ridge.jpg"

    @Test(
        "A line names a direction, words and a target",
        arguments: [
            ("at 90,-5: [to the hut](hut.jpg)", 90, -5, "to the hut", "hut.jpg"),
            ("at 270, 12.5: [](<a b.jpg>)  ", -90, 12.5, "", "a b.jpg"),
            ("at -180,+90:[up](../x%20(1).jpg)", -180, 90, "up", "../x%20(1).jpg"),
        ] as [(String, Double, Double, String, String)])
    func reading(_ line: String, _ yaw: Double, _ pitch: Double, _ text: String, _ target: String) throws {
        let spot = try #require(HotSpot(line: line))
        #expect(abs(spot.yaw) == abs(yaw) && spot.pitch == pitch && spot.text == text && spot.target == target)
        #expect(HotSpot(line: spot.line) == spot)
    }

    @Test(
        "Other lines stay text",
        arguments: [
            "at noon: [x](y.jpg)", "at 90: [x](y)", "at 90,91: [x](y)", "at 400,0: [x](y)", "at nan,0: [x](y)",
            "at 0x10,0: [x](y)", "at 1e2,0: [x](y)", "at 1,2: x](y)", "at 1,2: [x](y) and more", "At 1,2: [x](y)",
            " at 1,2: [x](y)", "at 1,2 [x](y)", "", "at ", "at 1,2,3: [x](y)", "at --1,2: [x](y)", "at ,: [x](y)",
        ])
    func others(_ line: String) {
        #expect(HotSpot(line: line) == nil)
    }

    @Test(
        "A target is a file of the folder at whose top the photo lies, and never another site",
        arguments: [
            ("hut.jpg", "/byteclub/photos/trip/hut.jpg"), ("../a%20b.jpg", "/byteclub/photos/a b.jpg"),
            ("./x/../hut.jpg", "/byteclub/photos/trip/hut.jpg"), ("../../notes.md", "/byteclub/notes.md"),
            ("hut.jpg#view=10,0,60", "/byteclub/photos/trip/hut.jpg"), ("../../../x.jpg", nil),
            ("https://a.example/x.jpg", nil), ("javascript:alert(1)", nil), ("//a.example/x.jpg", nil),
            ("/etc/passwd", nil), ("", nil), ("data:text/html,x", nil), ("%6aavascript%3Aalert(1)", nil),
            ("..%2F..%2F..%2Fx.jpg", nil), ("\\\\a\\b", nil), ("x%00.jpg", nil), ("%ff", nil),
        ] as [(String, String?)])
    func targets(_ target: String, _ path: String?) throws {
        let spot = try #require(HotSpot(line: "at 0,0: [x](\(target))"))
        #expect(try spot.path(from: RemotePath(Self.photo))?.string == path)
    }

    @Test("A new spot is written so that it is read again, whatever its words and names are")
    func writing() throws {
        let photo = try RemotePath(Self.photo)
        for (file, words) in [
            ("/byteclub/photos/trip/hut.jpg", "to the hut"), ("/byteclub/photos/a (1) #2 100%.jpg", "[x](y)\n\u{2028}"),
            ("/byteclub/日本/ü.jpg", "日本"), ("/other/x.jpg", ""), ("/byteclub/photos/trip/ridge.jpg", "self"),
        ] {
            let path = try RemotePath(file)
            let spot = HotSpot(yaw: 181.26, pitch: -95, text: words, to: path, from: photo)
            #expect(spot.yaw == -178.7 && spot.pitch == -90)
            let read = try #require(HotSpot(line: spot.line), "\(spot.line)")
            #expect(read == spot && !spot.line.contains("\n"))
            #expect(read.path(from: photo) == (file.hasPrefix("/other") ? nil : path))
        }
        let near = HotSpot(
            yaw: 0, pitch: 0, text: "x", to: try RemotePath("/byteclub/photos/trip/hut.jpg"), from: photo)
        #expect(near.target == "hut.jpg")
    }

    @Test("A target may be opened at a view of its own")
    func views() {
        #expect(HotSpot(line: "at 0,0: [x](y.jpg#view=10,-3.5,60)")?.openingView == "10,-3.5,60")
        #expect(HotSpot(line: "at 0,0: [x](y.jpg#view=\"><script>)")?.openingView == nil)
        #expect(HotSpot(line: "at 0,0: [x](y.jpg)")?.openingView == nil)
    }
}
