import ByteClubCore
import HTTPTypes
import NIOCore

extension ClubAPI {
    /// Answers `POST /sync/batch`.
    func syncBatch(_ call: Call) async throws -> Answer {
        let member = try call.requireMember()
        guard call.body.length ?? 0 <= Int64(SyncBatch.maximumBytes) else { throw Self.tooLarge }
        let lease = try largeBodies.lease(Int(call.body.length ?? Int64(SyncBatch.maximumBytes)))
        defer { withExtendedLifetime(lease) {} }
        let bytes = try await call.body.collect(limit: Int64(SyncBatch.maximumBytes))
        guard let frame = SyncFrame(bytes) else {
            throw APIError(400, "the body has no newline after its head")
        }
        let (batch, contents) = try await staged(frame, by: member)
        do {
            return .json(try await store.write(by: member.uid, storing: contents) { try $0.apply(batch) })
        } catch let refused as BatchRefused {
            return .json(refused.outcome)
        }
    }

    private static var tooLarge: APIError {
        APIError(413, "a batch has at most \(SyncBatch.maximumBytes) bytes")
    }

    /// Refuses chunks that together make more than there is room for, before a byte of it is written.
    private func checkRoom(for batch: SyncBatch, by member: Member) async throws {
        let lengths = batch.operations.compactMap { $0.content?.chunks == nil ? nil : $0.content?.bytes }
        if lengths.isEmpty { return }
        let usage = try await store.usage(of: member.uid)
        var room = usage.capacity - usage.used
        for length in lengths {
            room = room.subtractingReportingOverflow(length).partialValue
            guard length >= 0, room >= 0 else { throw APIError(507, "there is no room for what the chunks make") }
        }
    }

    /// Reads a batch, and hashes the contents that came with it.
    private func staged(_ frame: SyncFrame, by member: Member) async throws -> (SyncBatch, [StagedContent]) {
        var frame = frame
        var batch: SyncBatch
        do {
            batch = try JSONReader.read(from: frame.head)
        } catch {
            throw APIError(400, "the head of the batch is wrong: \(error)")
        }
        guard batch.operations.count <= SyncBatch.maximumOperations else {
            throw APIError(413, "a batch has at most \(SyncBatch.maximumOperations) operations")
        }
        try await checkRoom(for: batch, by: member)
        var contents: [StagedContent] = []
        contents.reserveCapacity(batch.operations.count)
        for index in batch.operations.indices {
            guard var content = batch.operations[index].content else { continue }
            let staged: StagedContent
            if let chunks = content.chunks {
                let found = try await store.chunks.assemble(chunks, bytes: content.bytes, in: store.blobs)
                guard let found, content.hash ?? found.hash == found.hash else {
                    // The rules refuse it, unless it was done before.
                    batch.operations[index].content?.hash = nil
                    continue
                }
                staged = found
            } else {
                guard let body = frame.next(content.bytes) else {
                    throw APIError(400, "the batch ends inside the content of operation \(index)")
                }
                guard let small = StagedContent(inline: Array(body)) else {
                    throw APIError(
                        413,
                        "operation \(index) has a content of more than \(StagedContent.inlineLimit) bytes; send chunks")
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
        guard frame.bodies.isEmpty else { throw APIError(400, "the batch goes on after its last content") }
        return (batch, contents)
    }
}

extension SyncOutcome: JSONWritable {}
