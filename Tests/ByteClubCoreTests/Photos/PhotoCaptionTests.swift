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
}
