import ByteClubCore
import HTTPTypes

/// Files that a page uploads in pieces: what came stays when the network goes, or the page.
extension WebSite {
    /// Takes the next piece, which is the body; the form's token is in the field `X-Form-Token`.
    ///
    /// The answer tells where the upload stands, with 409 when the piece does not begin there, and with 404 when the
    /// upload has to begin anew.
    func uploadPiece(_ visit: Visit, _ member: Member) async throws -> Response {
        try await inWords {
            let request = visit.request
            guard member.role >= .editor else { throw Self.viewersRead }
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
                return .json(try await store.append(request.body, to: visit["id"], at: offset, by: member.uid))
            } catch UploadError.wrongOffset(_, let upload) {
                var answer = Response.json(upload)
                answer.status = .conflict
                return answer
            }
        }
    }

    /// Stores a file whose pieces have all come under a free name, and tells its path.
    func commitPieces(_ visit: Visit, _ member: Member) async throws -> Response {
        try await inWords {
            guard member.role >= .editor else { throw Self.viewersRead }
            let path = try Self.place(of: visit["name"] ?? "")
            let content: StagedContent
            do {
                content = try await store.finishedUpload(visit["id"] ?? "", member: member.uid)
            } catch UploadError.alreadyCompleted {
                // The page asks again when the first answer was lost.
                return Self.plain(.ok, "")
            }
            return Self.plain(.ok, try await put(content, at: path, by: member).path.string)
        }
    }
}
