import ByteClubCore
import HTTPTypes
import NIOCore

extension WebSite {
    /// Stores files from the gallery's form, which begins with its token, each under a free name.
    ///
    /// A script gets the path, or the error, in plain text.
    func upload(_ visit: Visit, _ member: Member) async throws -> Response {
        guard visit.request.headers[values: .accept].contains("text/plain") else {
            _ = try await receive(visit, member)
            return redirect("/gallery")
        }
        return try await inWords { Self.plain(.ok, try await receive(visit, member).joined(separator: "\n")) }
    }

    /// Answers a script, with errors in plain text.
    func inWords(_ work: () async throws -> Response) async throws -> Response {
        let refusal: APIError
        do {
            return try await work()
        } catch let error as APIError {
            refusal = error
        } catch let error as UploadError {
            refusal = error.refusal(committing: false)
        } catch let error as StorageError {
            refusal = ServerFault.refusal(for: error)
        }
        return Self.plain(HTTPResponse.Status(code: refusal.status), refusal.message)
    }

    static func plain(_ status: HTTPResponse.Status, _ text: String) -> Response {
        Response(
            status, headers: [.contentType: "text/plain; charset=UTF-8"], body: .bytes(ByteBuffer(string: text)))
    }

    private func receive(_ visit: Visit, _ member: Member) async throws -> [String] {
        let request = visit.request
        guard member.role >= .editor else { throw Self.viewersChangeNothing }
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
                // Check for room before receiving the bytes.
                let room =
                    length > Int64(StagedContent.inlineLimit)
                    ? try await store.hold(length, for: member.uid, replacing: path, naming: []) : nil
                defer { withExtendedLifetime(room) {} }
                stored.append(try await put(try await form.content(in: store.blobs), at: path, by: member).path.string)
            }
        } catch let error as StorageError {
            throw ServerFault.refusal(for: error)
        }
        if stored.isEmpty { throw APIError(400, "Choose a file first.") }
        return stored
    }

    /// Stores a file under a free name, with the time of the file that the page has told.
    func put(
        _ content: StagedContent, at path: RemotePath, modified: FileTime? = nil, by member: Member
    ) async throws -> FolderEntry {
        let (bytes, hash) = (content.bytes, content.hash)
        let entry = try await store.write(by: member.uid, storing: [content]) { folder in
            try folder.put(path, bytes: bytes, hash: hash, modified: modified, condition: .create, policy: .rename)
        }
        lookInto(GalleryKind(path.name) == .photo ? [entry] : [], for: member)
        return entry
    }

    /// The refusal of a form that is not from a page of this site in this session.
    static var oldForm: APIError {
        APIError(403, "this form has expired or came from another site; go back, reload and try again")
    }
}

/// Files that a page uploads in pieces, which are kept when the connection breaks or the page is closed.
extension WebSite {
    /// Appends the next piece, which is the body; the form's token is in the field `X-Form-Token`.
    ///
    /// The answer has the offset of the upload, with 409 when the piece begins elsewhere, and with 404 when the upload
    /// must start again. So an empty piece begins an upload, or asks where it stands. What has come of a piece before
    /// its connection broke is kept.
    func uploadPiece(_ visit: Visit, _ member: Member) async throws -> Response {
        try await inWords {
            let request = visit.request
            guard member.role >= .editor else { throw Self.viewersChangeNothing }
            let token = HTTPField.Name("X-Form-Token").flatMap { request.headers[$0] }
            guard isForm(request, visit, token: token) else { throw Self.oldForm }
            guard let length = request.body.length else { throw APIError(411, "A piece needs a Content-Length.") }
            guard length <= settings.bodyLimit else {
                throw APIError(413, "This is more than \(HumanSize.text(settings.bodyLimit)), the most for one piece.")
            }
            let offset = try request.parameters.integer("offset", in: 0...Int64.max) ?? 0
            let room = try await store.hold(length, for: member.uid)
            defer { withExtendedLifetime(room) {} }
            do {
                return .json(
                    try await store.append(
                        request.body, to: visit["id"], at: offset, by: member.uid, keepingBroken: true))
            } catch UploadError.wrongOffset(_, let upload) {
                var answer = Response.json(upload)
                answer.status = .conflict
                return answer
            }
        }
    }

    /// Stores a complete upload under a free name, and returns its path; answers 409 when the page tells another hash
    /// than that of the bytes that came.
    func commitPieces(_ visit: Visit, _ member: Member) async throws -> Response {
        try await inWords {
            guard member.role >= .editor else { throw Self.viewersChangeNothing }
            let path = try Self.place(of: visit["name"] ?? "", in: visit["folder"] ?? "")
            let modified = try Self.fileTime(of: visit)
            let wanted = visit["hash"].flatMap { ContentHash($0) }
            let content: StagedContent
            do {
                content = try await store.finishedUpload(visit["id"] ?? "", member: member.uid)
            } catch UploadError.alreadyCompleted {
                // The page asks again when the first answer was lost.
                return Self.plain(.ok, "")
            }
            guard wanted == nil || wanted == content.hash else {
                throw APIError(409, "the bytes that came are not those of the file", parameter: "hash")
            }
            return Self.plain(.ok, try await put(content, at: path, modified: modified, by: member).path.string)
        }
    }
}
