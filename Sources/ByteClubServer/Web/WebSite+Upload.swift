import ByteClubCore
import HTTPTypes
import NIOCore

extension WebSite {
    /// The shared folder's place for notes, and below it that for photos.
    private static let folder = "/byteclub"

    /// Takes files from the gallery's form, which begins with its token, and stores each under a free name.
    ///
    /// A script is told the path in plain text, and what went wrong likewise.
    func upload(_ visit: Visit, _ member: Member) async throws -> Response {
        guard visit.request.headers[values: .accept].contains("text/plain") else {
            _ = try await receive(visit, member)
            return redirect("/gallery")
        }
        do {
            return Self.plain(.ok, try await receive(visit, member).joined(separator: "\n"))
        } catch let error as APIError {
            return Self.plain(HTTPResponse.Status(code: error.status), error.message)
        }
    }

    private static func plain(_ status: HTTPResponse.Status, _ text: String) -> Response {
        Response(
            status, headers: [.contentType: "text/plain; charset=UTF-8"], body: .bytes(ByteBuffer(string: text)))
    }

    private func receive(_ visit: Visit, _ member: Member) async throws -> [String] {
        let request = visit.request
        guard member.role >= .editor else { throw APIError(403, "Viewers read, and change nothing.") }
        guard let length = request.body.length else { throw APIError(411, "An upload needs a Content-Length.") }
        guard length <= settings.bodyLimit else {
            throw APIError(413, "This is more than \(HumanSize.text(settings.bodyLimit)), the most for one upload.")
        }
        var form = try MultipartReader(request.body, contentType: request.headers[.contentType])
        guard try await form.nextPart()?.name == "csrf" else { throw Self.oldForm }
        var token: [UInt8] = []
        while let bytes = try await form.nextBytes() {
            token += bytes
            if token.count > 128 { throw Self.oldForm }
        }
        try checkForm(request, visit, token: String(decoding: token, as: UTF8.self))
        var stored: [String] = []
        do {
            while let part = try await form.nextPart() {
                guard part.name == "file", let name = part.fileName, !name.isEmpty else { continue }
                let path = try Self.place(of: name)
                // Whether there is room is asked before the bytes come.
                let room =
                    length > Int64(StagedContent.inlineLimit)
                    ? try await store.hold(length, for: member.uid, replacing: path, naming: []) : nil
                defer { withExtendedLifetime(room) {} }
                let content = try await content(&form)
                let (bytes, hash) = (content.bytes, content.hash)
                let entry = try await store.write(by: member.uid, storing: content) { folder in
                    try folder.put(path, bytes: bytes, hash: hash, condition: .create, policy: .rename)
                }
                stored.append(entry.path.string)
                lookInto(GalleryKind(name) == .photo ? [entry] : [], for: member)
            }
        } catch let error as StorageError {
            throw ServerFault.refusal(for: error)
        }
        if stored.isEmpty { throw APIError(400, "Choose a file first.") }
        return stored
    }

    private func content(_ form: inout MultipartReader) async throws -> StagedContent {
        let writer = try await store.blobs.writer()
        do {
            while let bytes = try await form.nextBytes() { try await writer.write(bytes) }
        } catch {
            await writer.discard()
            throw error
        }
        return try await writer.finish()
    }

    private static func place(of name: String) throws(APIError) -> RemotePath {
        // Some browsers tell the file's whole path.
        let last = name.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last.map(String.init) ?? name
        guard let kind = GalleryKind(last) else {
            throw APIError(415, "'\(last)' is neither a photo (JPEG) nor a note (.md, .txt).")
        }
        do {
            return try RemotePath(folder + (kind == .photo ? "/photos/" : "/") + last)
        } catch {
            throw APIError(400, "'\(last)' is no name for a file: \(error.message)")
        }
    }

    private static var oldForm: APIError {
        APIError(403, "this form is too old or came from another site; go back, reload and try again")
    }
}
