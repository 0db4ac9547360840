import ByteClubCore
import HTTPTypes

/// Folders behind links as zip files.
extension ClubAPI {
    /// How often a file is asked for while the server is busy with others, once a second.
    private static let mostAttempts = 120

    /// A shared folder, or one below it, as a zip file.
    ///
    /// - Throws: ``APIError`` 413 for a folder with too many entries, 429 or 503 when too many folders are downloaded.
    func archive(of folder: FolderEntry, _ link: Link, _ request: RoutedRequest) async throws -> Response {
        let found = try await reader.read(for: request) { shared in
            try shared.state.descendants(folder.path.key, limit: FolderArchive.mostEntries + 1).map {
                ArchiveEntry($0, of: folder.path)
            }
        }
        guard found.count <= FolderArchive.mostEntries else {
            throw APIError(
                413, "the folder has over \(FolderArchive.mostEntries) files and folders; download parts of it")
        }
        // Without a length, the encoder would send the end of a body after the headers.
        if request.method == .head, !link.keepsLocation {
            return .refusal(APIError(405, "the length of this download shows only at its end"), allowing: [.get])
        }
        let lease = try shares.archives.take(for: request.requester)
        let root = ArchiveEntry(folder, as: ArchiveEntry.safe(folder.path.name))
        let archive = FolderArchive(
            [root] + ArchiveEntry.distinct(found), isAsStored: link.keepsLocation, holding: lease
        ) { [store, pictures, requester = request.requester] item in
            let entry = try item.entry(in: folder.path)
            let content = try await store.content(of: entry)
            guard content.length == entry.bytes else {
                throw StorageError(.damaged, "a content has a wrong length")
            }
            if link.keepsLocation { return .given(content) }
            return try await Self.patiently {
                do {
                    return .given(try await pictures.shareable(entry, content, for: requester))
                } catch let error as APIError where error.status == 415 {
                    return .withheld
                }
            }
        }
        let headers: HTTPFields = [
            .contentType: "application/zip", .referrerPolicy: "no-referrer", .robots: "noindex",
            .contentDisposition: "attachment; filename*=UTF-8''\(PercentEncoding.encode(folder.path.name)).zip",
            .contentSecurityPolicy: "sandbox; default-src 'none'", .cacheControl: "private, no-store",
        ]
        return Response(.ok, headers: headers, body: .produced(archive))
    }

    /// Does work again while others have all of what it needs: an answer that has begun cannot be refused any more.
    private static func patiently<T: Sendable>(_ work: @Sendable () async throws -> T) async throws -> T {
        for _ in 1..<mostAttempts {
            do {
                return try await work()
            } catch let error as APIError where error.status == 429 || error.status == 503 {
                try await Task.sleep(for: .seconds(1))
            }
        }
        return try await work()
    }
}

extension StoredContent {
    /// The length in bytes.
    fileprivate var length: Int64 {
        switch self {
        case .bytes(let bytes): Int64(bytes.count)
        case .blob(let blob): blob.length
        }
    }
}
