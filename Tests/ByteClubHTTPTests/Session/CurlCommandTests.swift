import Glibc
import HTTPTypes
import TestSupport
import Testing

@testable import ByteClubHTTP

@Suite(.serialized) struct CurlCommandTests {
    /// The words that a shell makes of a command which begins with `curl`.
    private func words(_ commands: [String]) throws -> [String] {
        let folder = TemporaryFolder()
        let script =
            "curl() { printf '%s\\0' \"$@\"; }\nexec > '\(folder.file("out"))'\n" + commands.joined(separator: "\n")
        let child = try #require(ChildProcess("/bin/sh", [folder.write("in", Array(script.utf8))]))
        #expect(child.wait() == 0)
        return try #require(folder.read("out")).split(separator: 0, omittingEmptySubsequences: false).dropLast()
            .map { String(decoding: $0, as: UTF8.self) }
    }

    private func task(
        _ request: HTTPRequest, _ kind: SessionTask.Kind = .data, body: Body = .none, options: TaskOptions = .init(),
        _ configure: (inout SessionConfiguration) -> Void = { _ in }
    ) throws -> SessionTask {
        var configuration = SessionConfiguration.default
        configure(&configuration)
        let inbox = try Inbox(configuration, events: EventHub(monitors: [], delegate: nil, name: "test"))
        return SessionTask(kind, request, body: body, options: options, inbox: inbox)
    }

    @Test("a shell reads back any word that is quoted")
    func quoting() throws {
        let seed = UInt64.random(in: .min ... .max)
        print("quoting: seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let alphabet = Array("abc'\"\\$`!*?~#&|;<>(){}[]=-@%\n\t\r éø💾\u{1}\u{7f}".unicodeScalars)
        let wanted =
            ["", "'", "''", "-", "$(exit)", "\n", "a'b"]
            + (0..<400).map { _ in
                var word = String.UnicodeScalarView()
                for _ in 0..<Int.random(in: 0...12, using: &random) {
                    if let next = alphabet.randomElement(using: &random) { word.append(next) }
                }
                return String(word)
            }
        let read = try words(["curl " + wanted.map(SessionTask.quoted).joined(separator: " ")])
        #expect(read == wanted)
    }

    @Test("the line repeats the request: method, fields of request and session, body, file, address")
    func line() throws {
        let accept: HTTPFields = [.accept: "a/b; q='1'", .contentLength: "7"]
        let request = HTTPRequest(
            method: .put, scheme: "http", authority: "a.test:81", path: "/it's", headerFields: accept)
        var options = TaskOptions()
        options.idempotencyKey = "k"
        let put = try task(request, .upload, body: .file(path: "/tmp/a b"), options: options) {
            $0.additionalHeaders = [.accept: "x", .userAgent: "club"]
        }
        let read = try words([put.curlCommand])
        #expect(
            read == [
                "--globoff", "--path-as-is", "--request", "PUT", "--compressed", "--header", "Accept: a/b; q='1'",
                "--header", "User-Agent: club", "--header", "Idempotency-Key: k", "--header", "Content-Type:",
                "--data-binary", "@/tmp/a b", "http://a.test:81/it's",
            ])
        let get = HTTPRequest(method: .get, scheme: "https", authority: "a.test", path: "/")
        #expect(
            try task(get, .download(path: "it's")).curlCommand
                == #"curl --globoff --path-as-is --output 'it'\''s' https://a.test/"#)
        let post = HTTPRequest(
            method: .post, scheme: "https", authority: "a.test", path: "/", headerFields: [.contentType: "a/b"])
        #expect(
            try task(post, body: .bytes(Array("password=secret".utf8))).curlCommand
                == "curl --globoff --path-as-is --request POST --compressed --header 'Content-Type: a/b' "
                + "--data-binary @- https://a.test/")
    }

    @Test("no secret is in the line")
    func secrets() throws {
        let key = try #require(HTTPField.Name("X-Api-Key"))
        let open = try #require(HTTPField.Name("X-Open"))
        let fields: HTTPFields = [.authorization: "Bearer secret", .cookie: "a=secret", key: "secret", open: "shown"]
        let request = HTTPRequest(
            method: .get, scheme: "https", authority: "me:secret@a.test",
            path: "/p?token=secret&secret&x=secret=secret#secret",
            headerFields: fields)
        let task = try task(request, body: .bytes(Array("secret".utf8))) {
            $0.additionalHeaders = [.proxyAuthorization: "secret"]
            $0.publicFields = [open]
        }
        let command = task.curlCommand
        #expect(!command.contains("secret") && command.contains("X-Open: shown"))
        #expect(try words([command]).last == "https://REDACTED@a.test/p?token=REDACTED&REDACTED&x=REDACTED")
    }
}
