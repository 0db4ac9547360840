import ByteClubCore
import Testing

/// What no honest server says, at the door where it comes in.
@Suite struct HostileAnswerTests {
    private func isRefused<Value: JSONReadable>(_ type: Value.Type, _ text: String, _ words: String) {
        let error = #expect(throws: JSONError.self, "\(text.prefix(200))") {
            try JSONReader.read(type, from: Array(text.utf8))
        }
        #expect(error?.description.contains(words) == true, "\(error?.description.prefix(300) ?? "")")
    }

    private func list(_ count: Int, _ element: String) -> String {
        "[" + Array(repeating: element, count: count).joined(separator: ",") + "]"
    }

    @Test("lists take no more memory than the largest of the protocol")
    func longLists() throws {
        let entry = #"{"path":"/a","is_dir":false}"#
        let folder = { (contents: String) in #"{"path":"/","is_dir":true,"contents":\#(contents)}"# }
        let listing = try JSONReader.read(Metadata.self, from: Array(folder(list(25_000, entry)).utf8))
        #expect(listing.contents?.count == 25_000)
        isRefused(Metadata.self, folder(list(25_001, entry)), "longer than 25000")
        isRefused(MetadataList.self, list(25_001, entry), "longer than 25000")
        isRefused(Metadata.self, folder("[" + folder(list(1, entry)) + "]"), "a listing in a listing")
        let delta = { (entries: String) in #"{"reset":true,"cursor":"x","has_more":false,"entries":\#(entries)}"# }
        isRefused(DeltaPage.self, delta(list(25_001, #"["/a",null]"#)), "longer than 25000")
        isRefused(SyncPage.self, delta(list(10_001, #"{"id":1,"parent":0,"name":"a"}"#)), "longer than 10000")
        isRefused(
            SyncOutcome.self, #"{"applied":true,"seq":1,"results":\#(list(1_001, #"{"status":200}"#))}"#,
            "longer than 1000")
    }

    @Test("texts take no more memory than the longest of the protocol")
    func longTexts() {
        let long = String(repeating: "x", count: 5_000)
        isRefused(DeltaPage.self, #"{"reset":true,"cursor":"\#(long)","has_more":false,"entries":[]}"#, "cursor")
        isRefused(SyncPage.self, #"{"reset":true,"cursor":"\#(long)","has_more":false,"entries":[]}"#, "cursor")
        isRefused(DeltaEntry.self, #"["\#(long + long)",null]"#, "longer than 4096")
        let deep = String(repeating: "/xxxxxxxxx", count: 500)
        isRefused(Metadata.self, #"{"path":"\#(deep)","is_dir":true}"#, "longer than 4096")
        isRefused(
            Account.self,
            #"{"uid":1,"display_name":"\#(long)","quota_info":{"quota":1,"normal":1,"shared":1}}"#, "1024")
        let nameless = #"{"path":"/","is_dir":true,"\#(long)":["#
        let error = #expect(throws: JSONError.self) { try JSONReader.read(Metadata.self, from: Array(nameless.utf8)) }
        #expect(error?.path.joined().utf8.count ?? .max < 200)
    }

    @Test(
        "numbers below zero overflow nothing and stand for nothing",
        arguments: ["bytes", "rev", "place_rev", "seq"])
    func negative(member: String) {
        isRefused(SyncEntry.self, #"{"id":1,"parent":0,"name":"a","\#(member)":-1}"#, "negative")
        isRefused(Metadata.self, #"{"path":"/a","is_dir":false,"bytes":-1}"#, "negative length")
    }

    @Test(
        "a name that is a path leads nowhere", arguments: ["..", ".", "", "/", "a/b", "../../a", "a\\\\b", "\\u0000"])
    func names(name: String) {
        isRefused(SyncEntry.self, #"{"id":1,"parent":0,"name":"\#(name)"}"#, "impossible name")
    }

    @Test("a list of a million entries is walked along to its end, also when many change meanwhile")
    func longWalk() throws {
        var progress = FeedProgress()
        for page in 0..<1_000 {
            try progress.take(
                entries: 2_000, isReset: page == 0, cursor: "\(page + 1)", after: page == 0 ? nil : "\(page)",
                hasMore: page < 999)
        }
        for _ in 0..<500_000 { try progress.takeRepeat() }
    }

    @Test("a list of changes without an end holds nobody for ever")
    func endlessWalks() {
        func pages(_ count: Int, _ take: (inout FeedProgress, Int) throws(RemoteError) -> Void) -> Int {
            var progress = FeedProgress()
            for page in 0..<count {
                do { try take(&progress, page) } catch {
                    #expect(error.code == .protocolViolation && error.message.contains("does not end"))
                    return page
                }
            }
            return count
        }
        let unlimited = pages(1 << 20) { progress, page throws(RemoteError) in
            try progress.take(entries: 2_000, isReset: false, cursor: "\(page + 1)", after: "\(page)", hasMore: true)
        }
        #expect(unlimited == FeedProgress.mostEntries / 2_000)
        let circle = pages(10) { progress, _ throws(RemoteError) in
            try progress.take(entries: 1, isReset: false, cursor: "x", after: "x", hasMore: true)
        }
        #expect(circle == 0)
        let empty = pages(1_000) { progress, page throws(RemoteError) in
            try progress.take(entries: 0, isReset: false, cursor: "\(page + 1)", after: "\(page)", hasMore: true)
        }
        #expect(empty == FeedProgress.mostEmptyPages)
        let anew = pages(1_000) { progress, page throws(RemoteError) in
            try progress.take(entries: 1, isReset: true, cursor: "\(page + 1)", after: "\(page)", hasMore: true)
        }
        #expect(anew == FeedProgress.mostResets)
        let again = pages(1_000) { progress, page throws(RemoteError) in
            try progress.take(entries: 2_000, isReset: false, cursor: "\(page + 1)", after: "\(page)", hasMore: true)
            if page > 0 { for _ in 0..<2_000 { try progress.takeRepeat() } }
        }
        #expect(again < 10)
    }
}
