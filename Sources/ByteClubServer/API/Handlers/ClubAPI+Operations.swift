import ByteClubCore

/// The operations that change entries of the folder without new contents.
extension ClubAPI {
    /// Answers `POST /fileops/copy`.
    func copy(_ request: MemberRequest) async throws -> Response {
        let reference = request.parameters["from_copy_ref"]
        if (reference == nil) == (request.parameters["from_path"] == nil) {
            throw APIError(400, "exactly one of from_path and from_copy_ref is needed", parameter: "from_path")
        }
        let destination = try request.path(in: "to_path")
        let source: RemotePath
        if let reference {
            guard let entry = try await store.entry(.copy, secret: reference, below: "") else {
                throw APIError(404, "the copy reference was not found")
            }
            source = entry.path
        } else {
            source = try request.path(in: "from_path")
        }
        return try await change(request) { try $0.copy(source, to: destination) }
    }

    /// Answers `POST /fileops/move`.
    func move(_ request: MemberRequest) async throws -> Response {
        let source = try request.path(in: "from_path")
        let destination = try request.path(in: "to_path")
        return try await change(request) { try $0.move(source, to: destination) }
    }

    /// Answers `POST /fileops/create_folder`.
    func createFolder(_ request: MemberRequest) async throws -> Response {
        let path = try request.path(in: "path")
        return try await change(request) { folder in
            if path.isRoot { throw APIError(403, "the root already exists") }
            return try folder.createFolder(path)
        }
    }

    /// Answers `POST /fileops/delete`; with `parent_rev`, an extension, only when nothing has changed since that
    /// version.
    func delete(_ request: MemberRequest) async throws -> Response {
        let seen = try request.parameters.revision("parent_rev")
        let path = try request.path(in: "path")
        return try await change(request) { try $0.delete(path, seen: seen) }
    }

    /// Answers `POST /restore/<root>/<path>`.
    func restore(_ request: MemberRequest) async throws -> Response {
        let revision = try Parameters.required("rev", request.parameters.revision("rev"))
        let path = try request.path()
        return try await change(request) { try $0.restore(path, to: revision) }
    }

    /// Changes the folder and answers with the entry that came of it.
    private func change(
        _ request: MemberRequest, _ body: @escaping @Sendable (inout SharedFolder) throws -> FolderEntry
    ) async throws -> Response {
        .json(try await store.write(by: request.member.uid, storing: nil) { try $0.describe(body(&$0)) })
    }
}
