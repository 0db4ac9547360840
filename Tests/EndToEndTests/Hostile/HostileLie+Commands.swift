import ByteClubCore
import TestSupport

extension HostileLie {
    /// What a server may tell the commands that ask it once.
    static func commands(elsewhere: String, bomb: [UInt8], output: String) -> [HostileLie] {
        let list = ["notes", "list"], show = ["notes", "show", "mine.md"], photo = ["photos", "info", "city.jpg"]
        let download = ["photos", "download", "city.jpg", "-o", output]
        let thumbnail = ["photos", "thumbnail", "city.jpg", "-o", output]
        let negative = WireText.metadata("/byteclub/mine.md", "\"is_dir\": false, \"bytes\": \(Int64.min)")
        let tiny = "{\"path\":\"/a\",\"is_dir\":false}"
        let many = Array(repeating: tiny, count: 600_000).joined(separator: ",")
        let folder = { (contents: String) in
            WireText.metadata("/byteclub", "\"is_dir\": true, \"contents\": [\(contents)]")
        }
        let nested = (0..<40).reduce(tiny) { inner, _ in "{\"path\":\"/a\",\"is_dir\":true,\"contents\":[\(inner)]}" }
        var lies = [
            HostileLie(
                "a listing of a million notes takes no memory", about: "/1/metadata", to: list,
                HostileAnswer.whole(folder(many))),
            HostileLie(
                "a listing without an end takes no memory", about: "/1/metadata", to: list,
                HostileAnswer.endless("{\"path\": \"/byteclub\", \"is_dir\": true, \"contents\": [", tiny + ",")),
            HostileLie(
                "listings in listings take no memory", about: "/1/metadata", to: list,
                HostileAnswer.whole(folder(nested))),
            HostileLie(
                "a negative length in a listing overflows nothing", about: "/1/metadata", to: list,
                HostileAnswer.whole(folder(negative))),
            HostileLie("a bomb of nothing takes no memory", about: "/1/metadata", to: list, HostileAnswer.bomb(bomb)),
            HostileLie(
                "a note takes no more memory than it was announced with", about: "/1/files/", to: show,
                HostileAnswer.endless(
                    "", String(repeating: "x", count: 65_536), fields: [fileHead(7, "/byteclub/mine.md")])),
            HostileLie(
                "a note of a negative length overflows nothing", about: "/1/files/", to: show,
                HostileAnswer.whole("a note\n", fields: ["X-Dropbox-Metadata: " + negative])),
            HostileLie(
                "a note is not fetched from elsewhere", about: "/1/files/", to: show,
                HostileAnswer.redirect(302, to: elsewhere)),
            HostileLie(
                "metadata without an end take no memory", about: "/1/files/", to: show,
                HostileAnswer.endlessHead("X-Dropbox-Metadata: {\"path\": \"/byteclub/mine.md\"}")),
            HostileLie(
                "a history of a million versions takes no memory", about: "/1/revisions",
                to: ["notes", "history", "mine.md"], HostileAnswer.whole("[\(many)]")),
            HostileLie(
                "a history of negative lengths overflows nothing", about: "/1/revisions",
                to: ["notes", "history", "mine.md"], HostileAnswer.whole("[\(negative)]")),
            HostileLie(
                "a search that finds a million notes takes no memory", about: "/1/search",
                to: ["notes", "search", "mine"], HostileAnswer.whole("[\(many)]")),
            HostileLie(
                "a search that does not end takes no memory", about: "/1/search", to: ["notes", "search", "mine"],
                HostileAnswer.endless("[", tiny + ",")),
            HostileLie(
                "a listing of a million photos takes no memory", about: "/1/metadata", to: ["photos", "list"],
                HostileAnswer.whole(folder(many))),
            HostileLie(
                "a photo of a negative length overflows nothing", about: "/1/metadata", to: photo,
                HostileAnswer.whole(
                    WireText.metadata(
                        "/byteclub/photos/city.jpg", "\"is_dir\": false, \"bytes\": \(Int64.min)"))),
            HostileLie(
                "a photo's beginning takes no more memory than was asked for", about: "/1/files/", to: photo,
                statuses: [65, 76],
                HostileAnswer.endless("", String(repeating: "x", count: 65_536), fields: [fileHead(1 << 40)])),
            HostileLie(
                "a photo takes no more of the disk than it was announced with", about: "/1/files/", to: download,
                HostileAnswer.endless("", String(repeating: "x", count: 65_536), fields: [fileHead(100_000)])),
            HostileLie(
                "a photo takes no more of the disk than is free", about: "/1/files/", to: download, statuses: [74],
                HostileAnswer.endless(
                    "", String(repeating: "x", count: 65_536),
                    fields: ["Content-Length: \(1 << 50)", fileHead(1 << 50)])),
            HostileLie(
                "a photo without metadata takes nothing of the disk", about: "/1/files/", to: download,
                HostileAnswer.endless("", String(repeating: "x", count: 65_536))),
            HostileLie(
                "a small picture without an end takes no memory", about: "/1/thumbnails", to: thumbnail,
                HostileAnswer.endless("", String(repeating: "x", count: 65_536), fields: [fileHead(100_000)])),
            HostileLie(
                "a member's name without an end is not kept", about: "/1/account/info", to: ["login"],
                HostileAnswer.whole(account(String(repeating: "x", count: 8 << 20)))),
            HostileLie(
                "an account without an end takes no memory", about: "/1/account/info", to: ["login"],
                HostileAnswer.endless("{\"uid\": 1, \"display_name\": \"", "xxxxxxxx")),
            HostileLie(
                "a head without an end takes no memory", about: "/1/account/info", to: ["login"],
                HostileAnswer.endlessHead("X-Filler: 1")),
            HostileLie(
                "a redirect brings a token to no other place", about: "/1/account/info", to: ["login"],
                HostileAnswer.redirect(302, to: elsewhere)),
            HostileLie(
                "an account that nests too deep crashes no login", about: "/1/account/info", to: ["login"],
                HostileAnswer.whole(String(repeating: "{\"a\":", count: 100_000))),
        ]
        lies += ["\u{1B}[2J", "\u{9B}31m", "\r\nbyteclub: all is well"].map { text in
            let escaped = text.unicodeScalars.map { scalar in
                let digits = String(scalar.value, radix: 16)
                return scalar.value < 0x20
                    ? "\\u" + String(repeating: "0", count: 4 - digits.count) + digits : "\(scalar)"
            }.joined()
            return HostileLie(
                "a refusal in words drives no terminal", about: "/1/metadata", to: list, statuses: [73],
                HostileAnswer.whole("{\"error\": \"\(escaped)\"}", status: 403))
        }
        return lies
    }

    /// What a server may tell a mirror that is compared with it.
    static func verifications(_ wire: Wire, elsewhere: String, bomb: [UInt8]) -> [HostileLie] {
        let verify = ["sync", "verify"]
        let root = WireText.change("/byteclub")
        let digest = [
            HostileLie(
                "a digest of a million folders takes no memory", about: "/1/sync/digest", to: verify,
                HostileAnswer.endless("{\"id\": 1, \"seq\": 1, \"folders\": [", "{\"id\": 1, \"name\": \"a\"},")),
            HostileLie(
                "a digest from elsewhere is none", about: "/1/sync/digest", to: verify,
                HostileAnswer.redirect(302, to: elsewhere)),
        ]
        let delta = [
            HostileLie(
                "a list that leads to itself holds no comparison up", about: Wire.plain.feed, to: verify,
                HostileAnswer.whole(WireText.delta([root], more: true))),
            HostileLie(
                "the same entries under ever new cursors hold no comparison up", about: Wire.plain.feed, to: verify,
                HostileAnswer.asked { request in
                    let step = WireText.step(of: request)
                    return WireText.delta(
                        Array(repeating: root, count: 2_000), cursor: "x.\(step + 1)", reset: step == 0, more: true)
                }),
            HostileLie(
                "a list without an end takes no memory", about: Wire.plain.feed, to: verify,
                HostileAnswer.endless(
                    "{\"reset\": true, \"cursor\": \"x\", \"has_more\": false, \"entries\": [", root + ",")),
            HostileLie(
                "a bomb of nothing takes no memory", about: Wire.plain.feed, to: verify, HostileAnswer.bomb(bomb)),
        ]
        return wire == .extended ? digest : delta
    }

    private static func account(_ name: String) -> String {
        """
        {"uid": 1, "display_name": "\(name)", "quota_info": {"quota": 1, "normal": 0, "shared": 0}}
        """
    }
}
