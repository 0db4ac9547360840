import ByteClubCore
import HTTPTypes

extension WebSite {
    /// The most contents that a page asks for at once.
    private static let mostAsked = 100

    /// Shows the page on which files are chosen, for browsers without scripts and for people who like a page.
    func addForm(_ visit: Visit, _ member: Member) async throws -> Response {
        guard member.role >= .editor else { throw Self.viewersChangeNothing }
        return view(.add, (limit: HumanSize.text(settings.bodyLimit), folder: visit["folder"] ?? ""), visit)
    }

    /// Answers which contents, of the hashes in `hashes`, photos of the club have already: a JSON object of paths by hash.
    ///
    /// - Throws: ``APIError`` 400 for what is no list of hashes.
    func knownContents(_ visit: Visit, _ member: Member) async throws -> Response {
        try await inWords {
            guard member.role >= .editor else { throw Self.viewersChangeNothing }
            let texts = (visit["hashes"] ?? "").split(separator: ",")
            let hashes = texts.compactMap { ContentHash(String($0)) }
            guard hashes.count == texts.count, hashes.count <= Self.mostAsked else {
                throw APIError(400, "expected at most \(Self.mostAsked) content hashes", parameter: "hashes")
            }
            var known: [(hash: ContentHash, path: RemotePath)] = []
            for hash in hashes {
                if let photo = try await store.photos(with: hash, limit: 1).first { known.append((hash, photo.path)) }
            }
            return .object { answer in
                for (hash, path) in known {
                    answer.key(named: hash.description)
                    answer.value(path.string)
                }
            }
        }
    }

    /// Where a file from a page goes: notes into the folder, photos into its album.
    ///
    /// - Parameters:
    ///   - name: The file's name, or its whole path, as some browsers send it.
    ///   - album: The path of an album below that of photos, or of a folder of notes; empty for none.
    /// - Returns: The path, which may be taken.
    /// - Throws: ``APIError`` 415 for other kinds of files, 400 for a name that no file can have.
    static func place(of name: String, in album: String = "") throws(APIError) -> RemotePath {
        let last = name.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last.map(String.init) ?? name
        guard let kind = GalleryKind(last) else {
            throw APIError(415, "'\(last)' is not a photo (JPEG, PNG) or note (.md, .txt).")
        }
        let folders = album.split(separator: "/").joined(separator: "/")
        do {
            return try RemotePath(
                "/byteclub" + (kind == .photo ? "/photos/" : "/") + (folders.isEmpty ? "" : folders + "/") + last)
        } catch {
            throw APIError(400, "'\(last)' is not a valid file name: \(error.message)")
        }
    }

    /// The time of a file in milliseconds since 1970, as browsers tell it; nil when a page does not.
    ///
    /// - Throws: ``APIError`` 400 for anything else.
    static func fileTime(of visit: Visit) throws(APIError) -> FileTime? {
        guard let text = visit["modified"], !text.isEmpty else { return nil }
        guard let milliseconds = Int64(text), milliseconds.magnitude < 1 << 53 else {
            throw APIError(400, "not a time in milliseconds", parameter: "modified")
        }
        let (seconds, rest) = (milliseconds / 1000, milliseconds % 1000)
        let below = rest < 0
        return FileTime(seconds: below ? seconds - 1 : seconds, nanoseconds: (below ? rest + 1000 : rest) * 1_000_000)
    }
}
