import ByteClubCore

/// Applies a mirror's changes in one batch.
extension ClubAPI {
    /// Answers `POST /sync/batch`.
    func applyBatch(_ request: MemberRequest) async throws -> Response {
        let member = request.member
        let body = try await request.wholeBody(in: shares.bodies)
        defer { withExtendedLifetime(body) {} }
        guard let frame = SyncFrame(body.bytes) else {
            throw APIError(400, "the body has no newline after its head")
        }
        let asked = try Self.batch(in: frame)
        let chunks = asked.operations.flatMap { $0.content?.chunks ?? [] }
        let room = try await room(for: asked, naming: chunks, by: member)
        let (batch, contents) =
            if chunks.isEmpty {
                try await staged(asked, frame, by: member)
            } else {
                // A line with names of chunks may expand to gigabytes, which are not written for a client that has hung
                // up.
                try await request.whileClientWaits { try await self.staged(asked, frame, by: member) }
            }
        do {
            let outcome = try await store.write(by: member.uid, storing: contents) { try $0.apply(batch) }
            withExtendedLifetime(room) {}
            let done = zip(asked.operations, outcome.results).filter { $1.isDone }
            await store.named(done.flatMap { $0.0.content?.chunks ?? [] }, by: member.uid)
            return .json(outcome)
        } catch let refused as BatchRefused {
            return .json(refused.outcome)
        } catch is UploadError {
            // The same batch is in progress for a connection that broke, or the upload continues.
            throw APIError(503, "the upload is in use; try again in a moment", retryAfter: 1)
        }
    }

    private static func batch(in frame: SyncFrame) throws(APIError) -> SyncBatch {
        let batch = try SyncBatch.read("the head of the batch", from: frame.head)
        guard batch.operations.count <= SyncBatch.maximumOperations else {
            throw APIError(413, "a batch has at most \(SyncBatch.maximumOperations) operations")
        }
        let uploads = batch.operations.count { $0.content?.upload != nil }
        guard uploads <= 1, uploads == 0 || batch.isAllOrNothing else {
            throw APIError(400, "a batch stores one upload, as a whole or not at all")
        }
        return batch
    }

    /// Reserves room for the contents that chunks make, before any byte of them is written.
    ///
    /// - Throws: ``APIError`` 413 when they are larger than a batch allows, else as
    ///   ``UploadStore/hold(_:for:replacing:naming:)``.
    private func room(
        for batch: SyncBatch, naming chunks: [ContentHash], by member: Member
    ) async throws -> RoomHold? {
        if chunks.isEmpty { return nil }
        var sum: Int64 = 0
        for case let content? in batch.operations.map(\.content) {
            // Chunks that do not make this content are not joined.
            guard let parts = content.chunks,
                try await store.chunks.length(of: parts, from: member.uid, or: places) == content.bytes
            else { continue }
            let (next, isOver) = sum.addingReportingOverflow(content.bytes)
            guard !isOver, next <= SyncBatch.maximumChunkedBytes else {
                throw APIError(413, "the chunks of a batch make at most \(SyncBatch.maximumChunkedBytes) bytes")
            }
            sum = next
        }
        return try await store.hold(sum, for: member.uid, replacing: nil, naming: chunks)
    }

    /// Puts together the contents of a batch, and hashes them.
    private func staged(
        _ batch: SyncBatch, _ frame: SyncFrame, by member: Member
    ) async throws -> (SyncBatch, [StagedContent]) {
        var (batch, frame) = (batch, frame)
        var contents: [StagedContent] = []
        contents.reserveCapacity(batch.operations.count)
        for index in batch.operations.indices {
            guard var content = batch.operations[index].content else { continue }
            let staged: StagedContent
            if content.chunks != nil || content.upload != nil {
                let found = try await sent(content, by: member)
                guard let found, found.bytes == content.bytes, content.hash ?? found.hash == found.hash else {
                    // The rules refuse it, unless it was done before.
                    batch.operations[index].content?.hash = nil
                    continue
                }
                staged = found
            } else {
                guard let body = frame.next(content.bytes) else {
                    throw APIError(400, "the batch ends inside the content of operation \(index)")
                }
                guard content.bytes <= SyncBatch.maximumInlineBytes, let small = StagedContent(inline: Array(body))
                else {
                    throw APIError(
                        413,
                        "operation \(index) has a content of more than \(SyncBatch.maximumInlineBytes) bytes; send chunks"
                    )
                }
                staged = small
            }
            if let hash = content.hash, hash != staged.hash {
                throw APIError(400, "the content of operation \(index) does not have the hash \(hash)")
            }
            content.hash = staged.hash
            batch.operations[index].content = content
            contents.append(staged)
        }
        guard frame.bodies.isEmpty else { throw APIError(400, "the batch has data after its last content") }
        return (batch, contents)
    }

    /// A content that was sent before its batch; nil when not all of it is there.
    private func sent(_ content: SyncOperation.Content, by member: Member) async throws -> StagedContent? {
        if let chunks = content.chunks {
            return try await store.chunks.assemble(
                chunks, bytes: content.bytes, from: member.uid, or: places, in: store.blobs)
        }
        guard let upload = content.upload else { return nil }
        do { return try await store.finishedUpload(upload, member: member.uid) } catch is UploadError { return nil }
    }
}

extension SyncOutcome: JSONWritable {}
