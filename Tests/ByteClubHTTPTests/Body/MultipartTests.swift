import HTTPTypes
import Testing

@testable import ByteClubHTTP

struct MultipartTests {
    /// Everything a body brings, read in pieces of random sizes.
    private func whole(_ source: UploadSource, seed: UInt64) throws -> [UInt8] {
        var random = SplitMix(state: seed)
        var result: [UInt8] = []
        while true {
            var buffer = [UInt8](repeating: 0, count: Int.random(in: 1...40, using: &random))
            let count = try unsafe buffer.withUnsafeMutableBytes { try unsafe source.read(into: $0) } ?? 0
            if count == 0 { return result }
            result += buffer[..<count]
        }
    }

    @Test("a form is written as RFC 7578 says, its length known before, and read again from any place")
    func exact() throws {
        let folder = TemporaryFolder()
        let file = folder.write("photo.jpg", Array("JPEG".utf8))
        var form = Multipart(boundary: "AaB03x")
        form.add("submit-name", "Larry\nä")
        form.add("files", file: file, contentType: "image/jpeg")
        form.add("data", bytes: [0, 1], fileName: "blob")
        form.add("plain", bytes: [2])
        form.add("none", file: folder.write("none", []))
        let expected =
            Array(
                """
                --AaB03x\r
                Content-Disposition: form-data; name="submit-name"\r
                \r
                Larry\nä\r
                --AaB03x\r
                Content-Disposition: form-data; name="files"; filename="photo.jpg"\r
                Content-Type: image/jpeg\r
                \r
                JPEG\r
                --AaB03x\r
                Content-Disposition: form-data; name="data"; filename="blob"\r
                Content-Type: application/octet-stream\r
                \r

                """.utf8) + [0, 1]
            + Array("\r\n--AaB03x\r\nContent-Disposition: form-data; name=\"plain\"\r\n\r\n".utf8) + [2]
            + Array(
                """
                \r
                --AaB03x\r
                Content-Disposition: form-data; name="none"; filename="none"\r
                Content-Type: application/octet-stream\r
                \r
                \r
                --AaB03x--\r

                """.utf8)
        #expect(form.contentType == "multipart/form-data; boundary=AaB03x")
        let source = try UploadSource(.multipart(form))
        #expect(source.length == Int64(expected.count))
        let seed = UInt64.random(in: 0 ... .max)
        for offset in 0...expected.count {
            #expect(source.seek(to: Int64(offset)))
            #expect(try whole(source, seed: seed &+ UInt64(offset)) == Array(expected[offset...]), "seed \(seed)")
        }
        #expect(!source.seek(to: Int64(expected.count + 1)))
    }

    @Test("names are escaped as browsers do")
    func names() throws {
        var form = Multipart(boundary: "x")
        form.add("a\"b\r\nc\nd\re\\%22;", bytes: [], fileName: "f\"\r\n\n;ü", contentType: "text/plain")
        let text = String(decoding: try whole(UploadSource(.multipart(form)), seed: 1), as: UTF8.self)
        #expect(
            text.hasPrefix(
                "--x\r\nContent-Disposition: form-data; name=\"a%22b%0D%0Ac%0D%0Ad%0D%0Ae\\%22;\"; "
                    + "filename=\"f%22%0D%0A%0A;ü\"\r\nContent-Type: text/plain\r\n\r\n\r\n--x--"))
    }

    @Test("boundaries are random, quoted where they must be, and refused where they are none")
    func boundaries() throws {
        #expect(Multipart().boundary != Multipart().boundary)
        #expect(Multipart().objection == nil && Multipart().boundary.utf8.count <= 70)
        #expect(Multipart(boundary: "a b:c").contentType == "multipart/form-data; boundary=\"a b:c\"")
        for bad in ["", " ", "a ", "a\r\nb", "a\"b", "ä", String(repeating: "a", count: 71)] {
            #expect(Multipart(boundary: bad).objection != nil)
        }
        var form = Multipart()
        form.add("a", bytes: [], contentType: "a/b\r\nX-Evil: 1")
        func head(_ form: Multipart, _ fields: HTTPFields = [:]) throws -> RequestHead {
            let request = HTTPRequest(method: .post, scheme: "http", authority: "a", path: "/", headerFields: fields)
            return try RequestHead(request, body: .multipart(form), options: TaskOptions(), additional: [:])
        }
        #expect(throws: TransferError.self) { try head(form) }
        #expect(throws: TransferError.self) { try head(Multipart(boundary: "b"), [.contentType: "multipart/mixed"]) }
        let own = try head(Multipart(boundary: "bb"), [.contentType: "multipart/mixed; boundary=bb"])
        #expect(own.fields[.contentType] == "multipart/mixed; boundary=bb")
        #expect(try head(Multipart(boundary: "bb")).fields[.contentType] == "multipart/form-data; boundary=bb")
    }

    @Test("a file of a form that changes before, while or after it is read is noticed")
    func changes() throws {
        let folder = TemporaryFolder()
        for (count, changed) in [(0, "b"), (70, "a"), (1000, "a"), (0, "empty")] {
            _ = folder.write("a", Array("first".utf8))
            _ = folder.write("b", Array("second".utf8))
            _ = folder.write("empty", [])
            var form = Multipart(boundary: "x")
            for name in ["a", "b", "empty"] { form.add(name, file: folder.file(name)) }
            let source = try UploadSource(.multipart(form))
            var left = count
            while left > 0 {
                var buffer = [UInt8](repeating: 0, count: min(left, 10))
                let got = try unsafe buffer.withUnsafeMutableBytes { try unsafe source.read(into: $0) } ?? 0
                if got == 0 { break }
                left -= got
            }
            _ = folder.write(changed, Array("other".utf8) + Array(changed.utf8))
            let error = #expect(throws: UploadSource.Failure.self) {
                _ = try whole(source, seed: 1); try source.verify()
            }
            #expect(error?.code == .fileChanged)
        }
        var form = Multipart()
        form.add("a", file: folder.file("missing"))
        #expect(throws: UploadSource.Failure.self) { try UploadSource(.multipart(form)) }
    }
}
