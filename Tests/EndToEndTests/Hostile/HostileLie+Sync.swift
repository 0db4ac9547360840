import ByteClubCore
import TestSupport

extension HostileLie {
    /// What a server may tell a mirror by ByteClub's own wire.
    static func journal(elsewhere: String, bomb: [UInt8]) -> [HostileLie] {
        let feed = Wire.extended.feed
        return [
            HostileLie(
                "a folder in itself keeps no client busy for ever", about: feed,
                HostileAnswer.whole(
                    WireText.page([
                        WireText.root, WireText.entry(2, in: 1, "a", at: 2), WireText.entry(2, in: 2, "a", at: 3),
                    ]))),
            HostileLie(
                "two folders in each other crash no client, neither now nor at the next start", about: feed,
                HostileAnswer.asked { request in
                    WireText.step(of: request) == 0
                        ? WireText.page(
                            [
                                WireText.root, WireText.entry(2, in: 1, "a", at: 2),
                                WireText.entry(3, in: 2, "b", at: 3),
                            ],
                            more: true)
                        : WireText.page([WireText.entry(2, in: 3, "a", at: 4)], reset: false)
                }),
            HostileLie(
                "two folders in each other beside the mirror crash no client", about: feed,
                HostileAnswer.whole(
                    WireText.page([
                        WireText.entry(2, in: 0, "a", at: 2), WireText.entry(3, in: 2, "b", at: 3),
                        WireText.entry(2, in: 3, "a", at: 4),
                    ]))),
            HostileLie(
                "folders in each other without end take no memory", about: feed,
                HostileAnswer.asked { request in
                    let step = WireText.step(of: request)
                    let first = step * 1_000 + 2
                    let folders = (first..<first + 1_000).map { WireText.entry($0, in: $0 - 1, "folder", at: $0) }
                    return WireText.page(
                        (step == 0 ? [WireText.root] : []) + folders, cursor: "x.\(step + 1)", reset: step == 0,
                        more: true)
                }),
            HostileLie(
                "folders in each other without end beside the mirror take no memory", about: feed,
                HostileAnswer.asked { request in
                    let step = WireText.step(of: request)
                    let first = step * 2_000 + 2
                    let folders = (first..<first + 2_000).map {
                        WireText.entry($0, in: $0 == 2 ? 0 : $0 - 1, "f", at: $0)
                    }
                    return WireText.page(folders, cursor: "x.\(step + 1)", reset: step == 0, more: true)
                }),
            HostileLie(
                "an entry in a file has no place in the mirror", about: feed,
                HostileAnswer.whole(
                    WireText.page([
                        WireText.root, WireText.entry(2, in: 1, "a", at: 2, WireText.file("text")),
                        WireText.entry(3, in: 2, "b", at: 3, WireText.file("text")),
                    ]))),
            HostileLie(
                "a negative length overflows nothing", about: feed,
                HostileAnswer.whole(
                    WireText.page([WireText.root, WireText.entry(2, in: 1, "a", at: 2, WireText.file("", bytes: .min))])
                )),
            HostileLie(
                "a negative revision hides no entry", about: feed,
                HostileAnswer.whole(
                    WireText.page([
                        WireText.root, WireText.entry(2, in: 1, "a", at: 2, WireText.file("a") + ", \"rev\": -1"),
                    ]))),
            HostileLie(
                "a number beyond 64 bits overflows nothing", about: feed,
                HostileAnswer.whole(
                    WireText.page([
                        WireText.root, WireText.entry(2, in: 1, "a", at: 2, "\"bytes\": 9223372036854775808"),
                    ]))),
            HostileLie(
                "a page that leads to itself holds no client up", about: feed,
                HostileAnswer.asked { request in
                    let isFirst = WireText.step(of: request) == 0
                    return WireText.page(isFirst ? [WireText.root] : [], reset: isFirst, more: true)
                }),
            HostileLie(
                "a page that begins nowhere holds no client up", about: feed,
                HostileAnswer.asked { request in
                    WireText.page(
                        [WireText.root], cursor: "x.\(WireText.step(of: request) + 1)", reset: false, more: true)
                }),
            HostileLie(
                "the same page under ever new cursors holds no client up", about: feed,
                HostileAnswer.asked { request in
                    let step = WireText.step(of: request)
                    return WireText.page([WireText.root], cursor: "x.\(step + 1)", reset: step == 0, more: true)
                }),
            HostileLie(
                "the same entries under ever new revisions hold no client up", about: feed,
                HostileAnswer.asked { request in
                    let step = WireText.step(of: request)
                    let entries = (1...1_999).map {
                        WireText.entry($0 + 1, in: 1, "f\($0)", at: step * 2_000 + $0 + 1)
                    }
                    return WireText.page(
                        (step == 0 ? [WireText.root] : []) + entries, cursor: "x.\(step + 1)", reset: step == 0,
                        more: true)
                }),
            HostileLie(
                "a list that begins anew with each page holds no client up", about: feed,
                HostileAnswer.asked { request in
                    WireText.page([WireText.root], cursor: "x.\(WireText.step(of: request) + 1)", more: true)
                }),
            HostileLie(
                "pages that tell nothing hold no client up", about: feed,
                HostileAnswer.asked { request in
                    let step = WireText.step(of: request)
                    return WireText.page([], cursor: "x.\(step + 1)", reset: step == 0, more: true)
                }),
            HostileLie(
                "a million entries in one page take no memory", about: feed,
                HostileAnswer.whole(
                    WireText.page(Array(repeating: "{\"id\":1,\"parent\":0,\"name\":\"a\"}", count: 350_000)))),
            HostileLie(
                "a page without an end takes no memory", about: feed,
                HostileAnswer.endless(
                    "{\"reset\": true, \"cursor\": \"x\", \"has_more\": false, \"entries\": [",
                    WireText.entry(2, in: 1, "a", at: 2) + ",")),
            HostileLie(
                "a cursor without an end takes no memory", about: feed,
                HostileAnswer.whole(WireText.page([WireText.root], cursor: String(repeating: "x", count: 8 << 20)))),
            HostileLie("a bomb of nothing takes no memory", about: feed, HostileAnswer.bomb(bomb)),
            HostileLie("a head without an end takes no memory", about: feed, HostileAnswer.endlessHead("X-Filler: 1")),
            HostileLie(
                "a redirect sends no client to a place that only it reaches", about: feed,
                HostileAnswer.redirect(307, to: elsewhere)),
            HostileLie(
                "a name that drives a terminal reaches none", about: feed,
                HostileAnswer.whole(
                    WireText.page([WireText.root, WireText.entry(2, in: 9, "\u{9B}2J\u{202E}\\u001b[2J", at: 2)]))),
            HostileLie(
                "an answer to a write moves nothing out of the mirror", about: Wire.extended.uploads,
                HostileAnswer.whole(
                    """
                    {"applied": true, "seq": 900000, "results": [{"status": 200, "entry": \
                    \(WireText.entry(9, in: 1, "../../escaped.md", at: 900_000, WireText.file("mine\n")))}]}
                    """)),
            HostileLie(
                "a redirect sends no note elsewhere", about: Wire.extended.uploads,
                HostileAnswer.redirect(308, to: elsewhere)),
        ]
    }

    /// What a server may tell a mirror by Core API v1.
    static func delta(elsewhere: String, bomb: [UInt8]) -> [HostileLie] {
        let feed = Wire.plain.feed
        let root = WireText.change("/byteclub")
        return [
            HostileLie(
                "a negative length overflows nothing", about: feed,
                HostileAnswer.whole(
                    WireText.delta([root, WireText.change("/byteclub/a", "\"is_dir\": false, \"bytes\": \(Int64.min)")])
                )),
            HostileLie(
                "a path without an end takes no memory", about: feed,
                HostileAnswer.whole(
                    WireText.delta([
                        root,
                        WireText.change("/byteclub/" + Array(repeating: "A", count: 1 << 20).joined(separator: "/")),
                    ]))),
            HostileLie(
                "a deletion of a path without an end takes no memory", about: feed,
                HostileAnswer.whole(
                    WireText.delta([
                        root,
                        "[\"/byteclub/\(Array(repeating: "a", count: 1 << 20).joined(separator: "/"))\", null]",
                    ]))),
            HostileLie(
                "few entries with many folders that nobody told of keep no client busy", about: feed,
                HostileAnswer.whole(
                    WireText.delta(
                        [root]
                            + (0..<1_000).map {
                                WireText.change(
                                    "/byteclub/\($0)/" + Array(repeating: "a", count: 1_000).joined(separator: "/"))
                            }))),
            HostileLie(
                "a page that leads to itself holds no client up", about: feed,
                HostileAnswer.asked { WireText.delta([root], reset: WireText.step(of: $0) == 0, more: true) }),
            HostileLie(
                "the same entries under ever new cursors hold no client up", about: feed,
                HostileAnswer.asked { request in
                    let step = WireText.step(of: request)
                    let entries = (0..<2_000).map { WireText.change("/byteclub/f\($0)") }
                    return WireText.delta([root] + entries, cursor: "x.\(step + 1)", reset: step == 0, more: true)
                }),
            HostileLie(
                "a list that begins anew with each page holds no client up", about: feed,
                HostileAnswer.asked { WireText.delta([root], cursor: "x.\(WireText.step(of: $0) + 1)", more: true) }),
            HostileLie(
                "pages that tell nothing hold no client up", about: feed,
                HostileAnswer.asked { request in
                    let step = WireText.step(of: request)
                    return WireText.delta([], cursor: "x.\(step + 1)", reset: step == 0, more: true)
                }),
            HostileLie(
                "a million entries in one page take no memory", about: feed,
                HostileAnswer.whole(
                    WireText.delta(Array(repeating: "[\"/a\",{\"path\":\"/a\",\"is_dir\":true}]", count: 600_000)))),
            HostileLie(
                "a page without an end takes no memory", about: feed,
                HostileAnswer.endless(
                    "{\"reset\": true, \"cursor\": \"x\", \"has_more\": false, \"entries\": [", root + ",")),
            HostileLie(
                "a cursor without an end takes no memory", about: feed,
                HostileAnswer.whole(WireText.delta([root], cursor: String(repeating: "x", count: 8 << 20)))),
            HostileLie("a bomb of nothing takes no memory", about: feed, HostileAnswer.bomb(bomb)),
            HostileLie("a head without an end takes no memory", about: feed, HostileAnswer.endlessHead("X-Filler: 1")),
            HostileLie(
                "a redirect sends no client to a place that only it reaches", about: feed,
                HostileAnswer.redirect(307, to: elsewhere)),
            HostileLie(
                "a redirect sends no note elsewhere", about: Wire.plain.uploads,
                HostileAnswer.redirect(308, to: elsewhere)),
        ]
    }

    /// What a server may send instead of a file of 100 KB, by either wire.
    static let contents: [HostileLie] = [
        HostileLie(
            "a file takes no more of the disk than it was announced with", about: "/1/files/auto/byteclub/long.bin",
            HostileAnswer.endless("", String(repeating: "x", count: 65_536), fields: [fileHead(100_000)])),
        HostileLie(
            "a file takes no more of the disk than the free space that was looked for",
            about: "/1/files/auto/byteclub/long.bin",
            HostileAnswer.endless("", String(repeating: "x", count: 65_536), fields: [fileHead(1 << 50)])),
        HostileLie(
            "a file without metadata takes nothing of the disk", about: "/1/files/auto/byteclub/long.bin",
            HostileAnswer.endless("", String(repeating: "x", count: 65_536))),
        HostileLie(
            "a file of a negative length takes nothing of the disk", about: "/1/files/auto/byteclub/long.bin",
            HostileAnswer.endless("", String(repeating: "x", count: 65_536), fields: [fileHead(.min)])),
    ]

    /// The metadata that come before a content.
    static func fileHead(_ bytes: Int64, _ path: String = "/byteclub/long.bin") -> String {
        "X-Dropbox-Metadata: " + WireText.metadata(path, "\"is_dir\": false, \"bytes\": \(bytes)")
    }
}
