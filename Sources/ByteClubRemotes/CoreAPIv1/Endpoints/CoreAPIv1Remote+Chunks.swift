import ByteClubCore
import ByteClubHTTP
import HTTPTypes

extension CoreAPIv1Remote {
    /// How often in a row the server may say that a chunk came at the wrong place.
    private static var maximumCorrections: Int { 8 }

    /// How often in all it may say so, or forget the upload.
    private static var maximumAllCorrections: Int { 100 }

    /// Sends all bytes chunk by chunk, from the server's offset on. `PUT /1/chunked_upload`
    ///
    /// To resume an earlier upload, an empty chunk asks for its offset first.
    ///
    /// - Returns: What names the upload when it is committed; nothing is visible before. Nil when the server knows no
    ///   uploads in chunks.
    func sendChunks(_ source: UploadSource, _ progress: UploadProgress?) async throws(RemoteError) -> String? {
        let earlier = source.position
        var (id, offset) = (earlier?.id, earlier?.offset ?? 0)
        var asksFirst = earlier != nil
        var corrections = (inRow: 0, inAll: 0)
        while offset < source.size || asksFirst {
            let end = asksFirst ? offset : try min(offset + pieceBytes(), source.size)
            asksFirst = false
            let start = ContinuousClock.now
            switch try await sendChunk(source, offset..<end, of: id, progress) {
            case .stored(let state) where state.offset == end && (id == nil || id == state.uploadID):
                pieces.learn(start.duration(to: .now), of: end - offset)
                corrections.inRow = 0
                (id, offset) = (state.uploadID, end)
                progress?.acknowledge(end)
                source.keepPosition(of: state.uploadID, offset: end)
            case .stored(let state), .misplaced(let state):
                corrections = (corrections.inRow + 1, corrections.inAll + 1)
                guard Self.isTolerable(corrections), (0...source.size).contains(state.offset) else {
                    throw RemoteError(
                        .protocolViolation, "the server expects bytes from \(state.offset) on, but \(offset) were sent")
                }
                (id, offset) = (state.uploadID, state.offset)
                progress?.acknowledge(offset)
            case .forgotten:
                corrections = (corrections.inRow + 1, corrections.inAll + 1)
                guard id != nil, Self.isTolerable(corrections) else {
                    throw RemoteError(.protocolViolation, "the server lost an upload in progress")
                }
                (id, offset) = (nil, 0)
            case .unknown: return nil
            }
        }
        guard let id else { throw RemoteError(.protocolViolation, "the server gave the upload no ID") }
        return id
    }

    private static func isTolerable(_ corrections: (inRow: Int, inAll: Int)) -> Bool {
        corrections.inRow <= maximumCorrections && corrections.inAll <= maximumAllCorrections
    }

    /// What became of a chunk.
    private enum ChunkOutcome {
        case stored(ChunkedUpload)
        case misplaced(ChunkedUpload)
        case forgotten
        /// The server has no such call.
        case unknown
    }

    /// What a server answers to a call that it does not know, and a chunk without a name is at fault for none of them.
    private static let unknownCall: Set<Int> = [404, 405, 501]

    private func sendChunk(
        _ source: UploadSource, _ range: Range<Int64>, of id: String?, _ progress: UploadProgress?
    ) async throws(RemoteError) -> ChunkOutcome {
        let request = transport.request(
            .put, "chunked_upload", query: ["upload_id": id, "offset": id == nil ? nil : String(range.lowerBound)],
            fields: Self.binary)
        let answer = try await upload(
            source.body(range), for: request, statuses: Self.unknownCall.union([200, 400]), contentOptions, progress,
            from: range.lowerBound)
        if answer.status == 200 { return .stored(try answer.decoded()) }
        if answer.status == 400, let state = try? answer.decoded(ChunkedUpload.self) { return .misplaced(state) }
        // A committed upload accepts nothing more; an empty chunk can have no other fault.
        if answer.status == 404 || range.isEmpty, id != nil { return .forgotten }
        if Self.unknownCall.contains(answer.status), id == nil { return .unknown }
        throw RemoteError(answer.response, answer.bytes, from: transport.origin)
    }

    /// Makes an upload visible. `POST /1/commit_chunked_upload/<root>/<path>`
    func commit(_ id: String, to path: RemotePath, _ query: Parameters) async throws(RemoteError) -> Metadata {
        var form = query
        form["upload_id"] = id
        return try await transport.post(address("commit_chunked_upload", path), form: form).decoded()
    }
}
