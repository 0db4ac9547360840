import ByteClubCore

@testable import ByteClubServer

extension MemoryStore {
    func beginUpload(member: Int64) async throws -> ChunkedUpload {
        let (id, now) = (Secret.text(bytes: 16), now.seconds)
        return try change { club in
            removeExpiredUploads(in: &club)
            try makeWay(for: member, in: &club)
            let upload = MemoryClub.Upload(
                member: member, expires: now + WaitingTime.upload, begun: age(of: club).seconds, touched: now)
            club.uploads[id] = upload
            return ChunkedUpload(uploadID: id, offset: 0, expires: APIDate(seconds: upload.expires))
        }
    }

    /// Gives up as many of a member's unfinished uploads as there are too many with one more.
    private func makeWay(for member: Int64, in club: inout MemoryClub) throws {
        let unfinished = club.uploads.filter { $0.value.member == member && !$0.value.isCompleted }
        let excess = max(0, unfinished.count + 1 - settings.unfinishedUploads)
        let idle = unfinished.filter { $0.value.holder == nil }.sorted { $0.value.touched < $1.value.touched }
        guard excess <= idle.count else { throw UploadError.tooMany }
        for (id, _) in idle.prefix(excess) { club.uploads[id] = nil }
    }

    /// Forgets uploads that are over their time by the wall clock, and by the time that has passed for certain.
    func removeExpiredUploads(in club: inout MemoryClub) {
        club.uploads = club.uploads.filter { !isExpired($0.value, in: club) }
    }

    private func isExpired(_ upload: MemoryClub.Upload, in club: MemoryClub) -> Bool {
        upload.expires <= now.seconds && upload.begun <= age(of: club).seconds - WaitingTime.upload
    }

    func upload(_ id: String, member: Int64) async throws -> ChunkedUpload {
        try query { try unfinished(id, of: member, in: $0).state }
    }

    /// An upload that can be gone on with, and how far it has come.
    private func unfinished(
        _ id: String, of member: Int64, in club: MemoryClub
    ) throws(UploadError) -> (upload: MemoryClub.Upload, state: ChunkedUpload) {
        guard let upload = club.uploads[id], upload.member == member, !isExpired(upload, in: club) else {
            throw .unknown
        }
        if upload.isCompleted { throw .alreadyCompleted }
        let state = ChunkedUpload(
            uploadID: id, offset: Int64(upload.bytes.count), expires: APIDate(seconds: upload.expires))
        return (upload, state)
    }

    func appendToUpload(_ id: String, member: Int64, at offset: Int64) async throws -> any UploadWriter {
        let number = try change { club in
            let state = try unfinished(id, of: member, in: club).state
            if state.offset != offset { throw UploadError.wrongOffset(got: offset, upload: state) }
            let number = Int(club.nextNumber())
            club.uploads[id]?.holder = number
            return number
        }
        return MemoryUploadWriter(
            store: self, upload: UploadIdentity(id: id, member: member, offset: offset), number: number)
    }

    func finishedUpload(_ id: String, member: Int64) async throws -> StagedContent {
        let bytes = try query { try unfinished(id, of: member, in: $0).upload.bytes }
        let identity = UploadIdentity(id: id, member: member, offset: Int64(bytes.count))
        return MemoryBlobStore.staged(bytes, from: identity)
    }

    /// Refuses a chunk in whose place another one has come.
    func check(_ upload: UploadIdentity, heldBy number: Int) throws {
        try query { try check(upload, heldBy: number, in: $0) }
    }

    private func check(_ upload: UploadIdentity, heldBy number: Int, in club: MemoryClub) throws {
        let now = try unfinished(upload.id, of: upload.member, in: club)
        guard now.upload.holder == number, now.state.offset == upload.offset else {
            throw UploadError.wrongOffset(got: upload.offset, upload: now.state)
        }
    }

    /// Makes a chunk part of its upload.
    func advance(_ upload: UploadIdentity, heldBy number: Int, with bytes: [UInt8]) throws -> ChunkedUpload {
        let now = now.seconds
        return try change { club in
            try check(upload, heldBy: number, in: club)
            club.uploads[upload.id]?.bytes += bytes
            club.uploads[upload.id]?.touched = now
            club.uploads[upload.id]?.holder = nil
            return try unfinished(upload.id, of: upload.member, in: club).state
        }
    }

    /// Lets go of an upload, unless another chunk holds it by now.
    func release(_ upload: UploadIdentity, heldBy number: Int) {
        try? change { club in
            if club.uploads[upload.id]?.holder == number { club.uploads[upload.id]?.holder = nil }
        }
    }
}

extension MemoryClub {
    /// Marks an upload as stored.
    mutating func complete(_ upload: UploadIdentity) throws(UploadError) {
        guard let known = uploads[upload.id], known.member == upload.member, !known.isCompleted,
            known.bytes.count == upload.offset
        else { throw .alreadyCompleted }
        uploads[upload.id]?.isCompleted = true
        uploads[upload.id]?.bytes = []
        uploads[upload.id]?.holder = nil
    }
}
