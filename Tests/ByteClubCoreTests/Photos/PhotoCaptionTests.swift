import ByteClubCore
import Testing

/// What members say of photos.
struct PhotoCaptionTests {
    @Test(
        "A caption is its text and how the photo should be looked at, and its note says the same again",
        arguments: [
            ("", nil, ""), ("The ridge.\n", nil, "The ridge.\n"),
            ("---\nview: sphere\n---\nThe ridge.", .sphere, "The ridge."),
            ("---\nview: strip\nby: ada\n---\n", .strip, ""), ("---\nby: ada\n---\nText\n---\n", nil, "Text\n---\n"),
            ("---\nview: round\n---\nText", nil, "Text"), ("---\nno end", nil, "---\nno end"),
            ("--- \na\n---\n", nil, "--- \na\n---\n"),
        ] as [(String, PhotoShape.Kind?, String)])
    func reading(_ note: String, _ view: PhotoShape.Kind?, _ text: String) {
        let caption = PhotoCaption(note: note)
        #expect(caption.view == view && caption.text == text)
        #expect(caption.note == note)
        #expect(PhotoCaption(note: caption.note) == caption)
    }

    @Test("A view is set and taken back, and what else is in the block stays")
    func setting() {
        var caption = PhotoCaption(note: "---\nby: ada\n---\nText\n")
        caption.view = .flat
        #expect(caption.note == "---\nview: flat\nby: ada\n---\nText\n")
        caption.view = nil
        #expect(caption.note == "---\nby: ada\n---\nText\n")
        #expect(PhotoCaption(view: .strip).note == "---\nview: strip\n---\n")
        var foreign = PhotoCaption(note: "\u{FEFF}---\r\nview: sphere\r\n---\r\nOne\r\ntwo\nthree")
        #expect(foreign.view == .sphere)
        foreign.view = .strip
        #expect(foreign.note == "\u{FEFF}---\r\nview: strip\r\n---\r\nOne\r\ntwo\nthree")
    }

    @Test("A caption lies beside its photo and carries its name")
    func place() throws {
        let photo = try RemotePath("/byteclub/photos/ridge.jpg")
        #expect(try PhotoCaption.path(of: photo) == RemotePath("/byteclub/photos/ridge.jpg.md"))
    }

    @Test("Lines of spots are no part of the text, and survive its edit behind it")
    func spots() throws {
        var caption = PhotoCaption(
            note: "---\nview: sphere\n---\nThe ridge.\nat 90,-5: [to the hut](hut.jpg)\nLate light.\n")
        #expect(caption.text == "The ridge.\nLate light." && caption.view == .sphere)
        #expect(caption.spots.map(\.line) == ["at 90,-5: [to the hut](hut.jpg)"])
        caption.text = "Storm.\n"
        #expect(caption.note == "---\nview: sphere\n---\nStorm.\n\nat 90,-5: [to the hut](hut.jpg)\n")
        #expect(PhotoCaption(note: caption.note).note == caption.note)
        caption.spots = []
        #expect(caption.note == "---\nview: sphere\n---\nStorm.\n")
        for note in ["at 0,0: [x](y.jpg)\n", "A\r\n\r\nat 0.5,-1.5: [](y.jpg)\r\n"] {
            #expect(PhotoCaption(note: note).note == note)
        }
    }
}
