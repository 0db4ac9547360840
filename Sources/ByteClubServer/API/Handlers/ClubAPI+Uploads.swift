import ByteClubCore
import HTTPTypes
import NIOCore

/// The operations that receive files, whole and in pieces.
extension ClubAPI {
    /// The condition for replacing the entry at a path, and the reaction to a conflict.
    private struct Policy: Sendable {
        let condition: WriteCondition
        let conflicts: ConflictPolicy
        /// The time of the content according to the uploader, an extension.
        let modified: FileTime?
        /// Whether the file is executable according to the uploader, an extension.
        let isExecutable: Bool?

        init(_ parameters: Parameters) throws(APIError) {
            let overwrite = try parameters.bool("overwrite", default: true)
            if let parent = try parameters.revision("parent_rev") {
                condition = .parent(parent.revision)
            } else {
                condition = overwrite ? .overwrite : .create
            }
            conflicts = try parameters.bool("autorename", default: true) ? .rename : .fail
            modified = try parameters.fileTime("client_mtime", nanoseconds: "client_mtime_nanos")
            isExecutable = try parameters["executable"] == nil ? nil : parameters.bool("executable", default: false)
        }
    }

    /// Answers `PUT /files_put/<root>/<path>`.
    func uploadFile(_ request: MemberRequest) async throws -> Response {
        let length = try length(of: request.body)
        let policy = try Policy(request.parameters)
        let path = try request.path()
        var room: RoomHold?
        if length > StagedContent.inlineLimit {
            room = try await store.hold(length, for: request.member.uid, replacing: path, naming: [])
        }
        defer { withExtendedLifetime(room) {} }
        return try await put(request, try await receive(request.body, length: length), at: path, policy)
    }

    /// Answers `PUT /chunked_upload`.
    func uploadChunk(_ request: MemberRequest) async throws -> Response {
        let length = try length(of: request.body)
        let member = request.member
        let offset = try request.parameters.integer("offset", in: 0...Int64.max) ?? 0
        let room = try await store.hold(length, for: member.uid)
        defer { withExtendedLifetime(room) {} }
        do {
            return .json(
                try await store.append(request.body, to: request.parameters["upload_id"], at: offset, by: member.uid))
        } catch let error as UploadError {
            throw error.refusal(committing: false)
        }
    }

    /// Answers `POST /commit_chunked_upload/<root>/<path>`.
    func commitUpload(_ request: MemberRequest) async throws -> Response {
        let id = try request.parameters.required("upload_id")
        let policy = try Policy(request.parameters)
        let path = try request.path()
        do {
            let content = try await store.finishedUpload(id, member: request.member.uid)
            return try await put(request, content, at: path, policy)
        } catch let error as UploadError {
            throw error.refusal(committing: true)
        }
    }

    /// Answers `POST /files/<root>/<folder>`, the form upload of the first clients.
    func uploadForm(_ request: MemberRequest) async throws -> Response {
        let length = try length(of: request.body)
        var room: RoomHold?
        defer { withExtendedLifetime(room) {} }
        let policy = try Policy(request.parameters)
        let folder = try request.path()
        var form = try MultipartReader(request.body, contentType: request.headers[.contentType])
        var pending = request.identity.pendingSignature
        var file: (path: RemotePath, content: StagedContent)?
        while let part = try await form.nextPart() {
            guard part.name == "file", let name = part.fileName, file == nil else { continue }
            if let signature = pending {
                // The signature covers the file's name like a parameter.
                try authenticator.check(signature, of: request, with: [("file", name)])
                pending = nil
            }
            let path = try Self.path(of: name, in: folder)
            if length > StagedContent.inlineLimit {
                room = try await store.hold(length, for: request.member.uid, replacing: path, naming: [])
            }
            file = (path, try await form.content(in: store.blobs))
        }
        guard let file, pending == nil else {
            throw APIError(400, "the form has no file", parameter: "file")
        }
        do {
            return try await put(request, file.content, at: file.path, policy)
        } catch let error as APIError where error.parameter == "parent_rev" {
            throw APIError(404, error.message)
        }
    }

    private static func path(of name: String, in folder: RemotePath) throws(APIError) -> RemotePath {
        do {
            return try folder.appending(name)
        } catch {
            throw APIError(400, error.message, parameter: "file")
        }
    }

    private func put(
        _ request: MemberRequest, _ content: StagedContent, at path: RemotePath, _ policy: Policy
    ) async throws -> Response {
        let (bytes, hash, policy) = (content.bytes, content.hash, policy)
        return .json(
            try await store.write(by: request.member.uid, storing: [content]) { folder in
                try folder.describe(
                    folder.put(
                        path, bytes: bytes, hash: hash, modified: policy.modified, executable: policy.isExecutable,
                        condition: policy.condition, policy: policy.conflicts))
            })
    }

    /// The announced length of an upload.
    ///
    /// - Throws: ``APIError`` 411 when there is none, 400 when it is over the limit; nothing has been read then.
    private func length(of body: IncomingBody) throws(APIError) -> Int64 {
        guard let length = body.length else { throw APIError(411, "an upload needs a Content-Length") }
        guard length >= 0, length <= settings.bodyLimit else {
            throw APIError(400, "the body is longer than \(settings.bodyLimit) bytes")
        }
        return length
    }

    /// Holds a small body in memory, and writes a large one to the disk as it arrives.
    private func receive(_ body: IncomingBody, length: Int64) async throws -> StagedContent {
        if length <= StagedContent.inlineLimit, case let bytes = try await body.collect(limit: length),
            let content = StagedContent(inline: bytes)
        {
            return content
        }
        let writer = try await store.blobs.writer()
        try await writer.take(body)
        return try await writer.finish()
    }
}

extension UploadStore {
    /// Appends a body to a member's upload in pieces, or begins one without an identifier.
    ///
    /// - Throws: ``UploadError``, and errors of the body or the storage, after which the body is discarded; with
    ///   `keepingBroken` the bytes that came before the connection broke are part of the upload then.
    func append(
        _ body: IncomingBody, to id: String?, at offset: Int64, by member: Int64, keepingBroken: Bool = false
    ) async throws -> ChunkedUpload {
        let known: String
        if let id {
            known = id
        } else {
            let fresh = try await beginUpload(member: member)
            if offset != 0 { throw UploadError.wrongOffset(got: offset, upload: fresh) }
            known = fresh.uploadID
        }
        let writer = try await appendToUpload(known, member: member, at: offset)
        try await writer.take(body, keepingBroken ? { _ = try? await writer.finish() } : nil)
        return try await writer.finish()
    }
}

extension ContentWriter {
    /// Receives a whole body; the socket is read no faster than the disk writes.
    ///
    /// - Throws: Errors of the body and the storage, after which the received bytes are discarded; errors of the body
    ///   after what `atBreak` does instead.
    fileprivate func take(_ body: IncomingBody, _ atBreak: (() async -> Void)? = nil) async throws {
        do {
            while let piece = try await body.next() {
                if unsafe piece.withUnsafeReadableBytes({ unsafe append($0) }) { try await flush() }
            }
        } catch {
            if body.isBroken, let atBreak { await atBreak() } else { await discard() }
            throw error
        }
    }
}
