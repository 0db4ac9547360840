import TestSupport
import Testing

@testable import ByteClubServer

/// The scripts, styles and pictures of the pages.
@Suite struct WebFileTests {
    @Test("a file is kept for good under the digest of this program, and for minutes under any other")
    func caching() async throws {
        try await TestServer.run { server in
            for file in WebFile.allCases {
                let kept = try await server.send("GET \(file.address)", [])
                #expect(kept.status == 200 && kept["Cache-Control"] == "public, max-age=31536000, immutable")
                #expect(kept.body == file.bytes && kept["Content-Encoding"] == nil && kept["Vary"] == "Accept-Encoding")
                for path in ["/assets/\(file.rawValue)", "/assets/0123456789abcdef/\(file.rawValue)"] {
                    let other = try await server.send("GET \(path)", [])
                    #expect(other.status == 200 && other["Cache-Control"] == "public, max-age=300", "\(path)")
                }
            }
            for path in ["/assets", "/assets/", "/assets/no.css", "/assets/a/b/style.css", "/assets/x/%2e%2e"] {
                #expect(try await server.send("GET \(path)", []).status == 404, "\(path)")
            }
        }
    }

    @Test("browsers that take gzip get it, and curl unpacks the same bytes")
    func compression() async throws {
        try await TestServer.run { server in
            for file in WebFile.allCases {
                let packed = try await server.send("GET \(file.address)", ["Accept-Encoding: br, gzip;q=0.9"])
                #expect(packed["Content-Encoding"] == "gzip" && packed.body.count == file.packedLength)
                #expect(packed.body.count < file.bytes.count)
                let unpacked = try await Program.run("/bin/gzip", ["-dc"], input: packed.body)
                #expect(unpacked.output == file.bytes, "\(file.rawValue)")
            }
        }
    }

    @Test("scripts and styles are 60 kB at most, as browsers receive them")
    func budget() {
        let all = WebFile.allCases.filter { $0.rawValue.hasSuffix(".js") || $0.rawValue.hasSuffix(".css") }
        let bytes = all.map(\.packedLength).reduce(0, +)
        #expect(bytes <= 60_000, "\(bytes) bytes")
    }

    @Test("every file that a template or a script names is there")
    func names() async throws {
        let folder = Fixture.projectRoot + "/Sources/ByteClubServer/Web/Templates/"
        let listed = try await Program.run("/bin/ls", [folder]).text.split(separator: "\n").map(String.init)
        #expect(listed.count > 20)
        let texts = listed.map { (name: $0, text: Fixture.text(Fixture.bytes(at: folder + $0))) }
        let known = Set(WebFile.allCases.map(\.rawValue))
        let icons = Fixture.text(Fixture.bytes(at: folder + "icons.svg"))
        for (name, text) in texts {
            for match in text.matches(of: /"\/assets\/([-a-z0-9]+\.[a-z]+)/) {
                #expect(known.contains(String(match.1)), "\(name) names \(match.1)")
            }
            for match in text.matches(of: /(?:from |import\()"\.\/([-a-z0-9]+\.js)"/) {
                #expect(known.contains(String(match.1)), "\(name) imports \(match.1)")
            }
            for match in text.matches(of: /icons\.svg#([-a-z]+)"/) {
                #expect(icons.contains("<symbol id=\"\(match.1)\""), "\(name) shows \(match.1)")
            }
        }
    }
}
