public import ByteClubCore

extension CoreAPIv1Remote {
    /// Makes a folder and its missing parents. `POST /1/fileops/create_folder`
    public func createFolder(_ path: RemotePath) async throws(RemoteError) -> Metadata {
        let form: Parameters = ["root": root, "path": path.string]
        return try await repeating("fileops/create_folder", form, lostReply: .forbidden) { () throws(RemoteError) in
            let there = try await metadata(at: path)
            return there.isFolder && !there.isDeleted ? there : nil
        }
    }

    /// Deletes an entry with all below it. `POST /1/fileops/delete`
    public func delete(_ path: RemotePath, ifUnchangedSince seen: Revision?) async throws(RemoteError) -> Metadata {
        var form: Parameters = ["root": root, "path": path.string]
        if let seen {
            if try await powers().conditionalDelete {
                form["parent_rev"] = seen.description
            } else {
                try await check(path, isUnchangedSince: seen)
            }
        }
        return try await repeating("fileops/delete", form, lostReply: .notFound) { () throws(RemoteError) in
            let there = try await metadata(at: path)
            return there.isDeleted ? there : nil
        }
    }

    /// Moves an entry with all below it. `POST /1/fileops/move`
    public func move(_ path: RemotePath, to destination: RemotePath) async throws(RemoteError) -> Metadata {
        let form: Parameters = ["root": root, "from_path": path.string, "to_path": destination.string]
        return try await repeating("fileops/move", form, lostReply: .notFound) { () throws(RemoteError) in
            let (old, new) = (try await metadata(at: path), try await metadata(at: destination))
            return old.isDeleted && !new.isDeleted && old.isFolder == new.isFolder ? new : nil
        }
    }

    /// Copies an entry with all below it. `POST /1/fileops/copy`
    public func copy(_ path: RemotePath, to destination: RemotePath) async throws(RemoteError) -> Metadata {
        let form: Parameters = ["root": root, "from_path": path.string, "to_path": destination.string]
        return try await repeating("fileops/copy", form, lostReply: .forbidden) { () throws(RemoteError) in
            let (old, new) = (try await metadata(at: path), try await metadata(at: destination))
            let isCopy = old.isFolder == new.isFolder && old.bytes == new.bytes && old.contentHash == new.contentHash
            return isCopy && !new.isDeleted ? new : nil
        }
    }

    /// Makes a new version with an old one's content. `POST /1/restore/<root>/<path>`
    public func restore(_ path: RemotePath, to revision: Revision) async throws(RemoteError) -> Metadata {
        let form: Parameters = ["rev": revision.description]
        // Done twice, it makes one version more with the same content.
        return try await repeatingOnce { () throws(RemoteError) in
            try await transport.post(address("restore", path), form: form).decoded()
        }
    }

    /// Sends a form, and once more when the answer is lost.
    ///
    /// `lostReply` is the server's answer to the repeated request when the first had its effect; `outcome` then looks
    /// up the result, and is nil when the first had none.
    private func repeating(
        _ address: String, _ form: Parameters, lostReply: RemoteError.Code,
        outcome: () async throws(RemoteError) -> Metadata?
    ) async throws(RemoteError) -> Metadata {
        do {
            return try await transport.post(address, form: form).decoded()
        } catch  where error.code == .unreachable {
            do {
                return try await transport.post(address, form: form).decoded()
            } catch  where error.code == lostReply {
                if let done = try? await outcome() { return done }
                throw error
            }
        }
    }

    /// Does what may be done twice, and once more when the answer is lost.
    func repeatingOnce<Value>(_ work: () async throws(RemoteError) -> Value) async throws(RemoteError) -> Value {
        do {
            return try await work()
        } catch  where error.code == .unreachable {
            return try await work()
        }
    }

    /// Looks whether an entry still is as it was, for servers that cannot check it when they delete.
    private func check(_ path: RemotePath, isUnchangedSince seen: Revision) async throws(RemoteError) {
        let there = try await metadata(at: path)
        if there.isDeleted { throw RemoteError(.notFound, "Path '\(path)' not found") }
        var isNewer = there.isFolder ? false : there.rev != seen
        if there.isFolder {
            // What cannot be compared may be newer.
            let last = JournalRevision(seen)?.number ?? -1
            var cursor: String?
            var progress = FeedProgress()
            repeat {
                let page = try await delta(after: cursor, prefix: path)
                try progress.take(
                    entries: page.entries.count, isReset: page.reset, cursor: page.cursor, after: cursor,
                    hasMore: page.hasMore)
                isNewer =
                    isNewer
                    || page.entries.contains { entry in
                        entry.key.isBelow(path.key)
                            && entry.metadata?.rev.map { JournalRevision($0)?.number ?? .max > last } ?? false
                    }
                cursor = page.hasMore ? page.cursor : nil
            } while cursor != nil && !isNewer
        }
        if isNewer { throw RemoteError(.conflict, "'\(path)' has changed since \(seen)") }
    }
}

extension CoreAPIv1Remote: ManagedLinkRemote {
    /// The member's link to a file or a folder. `POST /1/shares/<root>/<path>`
    public func share(_ path: RemotePath, _ terms: LinkTerms) async throws(RemoteError) -> SharedLink {
        try await transport.post(
            address("shares", path),
            form: [
                "short_url": "false", "expires_in": terms.lifetime.map { String($0) }, "password": terms.password,
                "location": terms.keepsLocation.map { $0 ? "keep" : "remove" },
            ]
        ).decoded()
    }

    /// The links that the member may see, the newest first. `GET /1/sync/links`
    public func links(before id: Int64?) async throws(RemoteError) -> PublicLinkPage {
        try await transport.get("sync/links", query: ["before": id.map { String($0) }]).decoded()
    }

    /// Revokes a link. `POST /1/sync/links/revoke`
    public func revokeLink(_ id: Int64) async throws(RemoteError) {
        _ = try await transport.post("sync/links/revoke", form: ["id": String(id)])
    }
}
