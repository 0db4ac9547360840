import HTTPTypes
import Testing

@testable import ByteClubHTTP

struct BackgroundRequestTests {
    private func get(_ fields: HTTPFields = [:], authority: String = "club.example") -> HTTPRequest {
        HTTPRequest(method: .get, scheme: "https", authority: authority, path: "/a", headerFields: fields)
    }

    private func download(
        _ request: HTTPRequest? = nil, to path: String = "/tmp/a",
        _ change: (inout BackgroundOptions) -> Void = { _ in }
    ) -> BackgroundRequest {
        var options = BackgroundOptions()
        change(&options)
        return BackgroundRequest(.download(request ?? get(), to: path), options: options)
    }

    private func refusal(of request: BackgroundRequest) -> String {
        do throws(TransferError) { try request.check() } catch {
            #expect(error.code == .badRequest)
            return error.message
        }
        return "it is accepted"
    }

    private func field(_ name: String) throws -> HTTPField.Name { try #require(HTTPField.Name(name)) }

    @Test("valid downloads, uploads and other work are accepted")
    func accepted() throws {
        var put = get([.contentType: "image/jpeg"])
        put.method = .post
        try download(get([.accept: "*/*", .range: "bytes=0-5"])).check()
        try download {
            $0.credential = "club"; $0.earliestStart = .max; $0.rateLimit = 1
        }.check()
        try BackgroundRequest(.upload(put, file: "/tmp/ä b")).check()
        try BackgroundRequest(.custom(kind: "photo", payload: [UInt8](repeating: 7, count: 1 << 20))).check()
        let name = try field("X-Page")
        try download(get([name: "5"])) { $0.publicFields = [name] }.check()
    }

    @Test("a field that may hold a secret is refused with a remedy")
    func secrets() throws {
        for name in [.authorization, .cookie, .proxyAuthorization, try field("X-Api-Key"), try field("Link")] {
            let message = refusal(of: download(get([name: "hush"])))
            #expect(message.contains(name.rawName) && message.contains("credential") && !message.contains("hush"))
        }
        for name in [HTTPField.Name.authorization, .cookie, .proxyAuthorization] {
            let request = download(get([name: "hush"])) { $0.publicFields = [name] }
            #expect(refusal(of: request).contains("credential"))
        }
        #expect(refusal(of: download(get(authority: "me:hush@club.example"))).contains("credential"))
        #expect(!refusal(of: download(get(authority: "me:hush@club.example"))).contains("hush"))
    }

    @Test("work that could never be done is refused at once")
    func refused() throws {
        var post = get()
        post.method = .post
        var ftp = get()
        ftp.scheme = "ftp"
        var relative = get()
        relative.path = "a b"
        for (request, word) in [
            (download(post), "GET"), (download(ftp), "http"), (download(relative), "slash"),
            (download(get(authority: "no host")), "host"), (download(to: "a"), "absolute"),
            (download(to: "/tmp/\0"), "NUL"), (download(to: "/tmp/"), "folder"), (download(to: ""), "absolute"),
            (download(to: "/" + String(repeating: "a", count: 4095)), "4095"),
            (BackgroundRequest(.upload(post, file: "photo.jpg")), "absolute"),
            (download { $0.certificateAuthorityFile = "ca.pem" }, "absolute"),
            (download { $0.label = "a\nb" }, "label"),
            (download { $0.credential = "" }, "credential"), (download { $0.credential = "\u{1B}" }, "credential"),
            (download { $0.timeoutForResource = 0 }, "1 s"), (download { $0.rateLimit = 0 }, "1 byte"),
            (download { $0.idempotencyKey = "a\r\nB: c" }, "idempotency key"),
            (BackgroundRequest(.custom(kind: "", payload: [])), "kind"),
            (BackgroundRequest(.custom(kind: "a\u{7F}", payload: [])), "kind"),
            (BackgroundRequest(.custom(kind: "a", payload: [UInt8](repeating: 0, count: 1 << 20 + 1))), "payload"),
            (download(get([.accept: String(repeating: "a", count: 1 << 20)])), "bytes"),
        ] {
            let message = refusal(of: request)
            #expect(message.contains(word), "\(message)")
            #expect(!message.utf8.contains { $0 < 0x20 }, "\(message)")
        }
    }

    @Test("a session's identifier has 1 to 200 printable bytes")
    func identifiers() throws {
        for good in ["a", "club.example/photos", String(repeating: "ä", count: 100)] {
            try BackgroundRequest.check(identifier: good)
        }
        for bad in ["", "a\nb", "\0", "\u{7F}", String(repeating: "ä", count: 101)] {
            let error = #expect(throws: TransferError.self) { try BackgroundRequest.check(identifier: bad) }
            #expect(error?.code == .badConfiguration)
        }
    }

    @Test("an upload may be repeated if its method is idempotent or it has a key")
    func repeatable() {
        for (method, isRepeatable) in [(HTTPRequest.Method.put, true), (.post, false), (.patch, false)] {
            var request = get()
            request.method = method
            var upload = BackgroundRequest(.upload(request, file: "/a"))
            #expect(upload.isRepeatable == isRepeatable)
            upload.options.idempotencyKey = "k"
            #expect(upload.isRepeatable)
        }
        #expect(download().isRepeatable && BackgroundRequest(.custom(kind: "a", payload: [])).isRepeatable)
    }
}
