import ByteClubCore
import ByteClubHTTP
import FoundationEssentials
import HTTPTypes
import TestSupport
import Testing

/// The wire as the tests use it: requests made by hand, answers as they came.
struct ClubAPI: Sendable {
    /// One answer.
    struct Answer: Sendable, CustomStringConvertible {
        let status: Int
        let bytes: [UInt8]
        let response: HTTPResponse

        var description: String { "\(status) \(String(decoding: bytes.prefix(500), as: UTF8.self))" }

        func decode<Value: JSONReadable>(_ type: Value.Type) throws -> Value {
            try JSONReader.read(type, from: bytes)
        }
    }

    let scheme: String
    let authority: String
    let token: String
    private let session: Session

    init(server: ServerProcess, token: String, authority certificate: String? = nil) throws {
        scheme = certificate == nil ? "http" : "https"
        authority = "127.0.0.1:\(server.port)"
        self.token = token
        var configuration = SessionConfiguration.ephemeral
        configuration.retryPolicy = .never
        configuration.certificateAuthorityFile = certificate
        configuration.maximumTasksPerHost = 16
        session = try Session(configuration: configuration, name: "tests")
    }

    /// Ends the session behind it.
    func close() async { await session.invalidateAndCancel() }

    func send(_ method: HTTPRequest.Method, _ target: String, body bytes: [UInt8]? = nil) async throws -> Answer {
        var request = HTTPRequest(method: method, scheme: scheme, authority: authority, path: target)
        request.headerFields[.authorization] = "Bearer \(token)"
        var options = TaskOptions()
        options.retries = false
        let body = bytes.map { Body.bytes($0) } ?? .none
        let (bytes, response) = try await session.data(for: request, body: body, options: options)
        return Answer(status: response.status.code, bytes: bytes, response: response)
    }

    /// `GET /files`, with the bytes as they came.
    func get(_ path: String, rev: Revision? = nil) async throws -> Answer {
        try await send(.get, "/1/files/dropbox\(Self.encode(path))\(rev.map { "?rev=\($0)" } ?? "")")
    }

    /// `PUT /files_put`.
    func put(_ bytes: [UInt8], _ path: String, query: String = "overwrite=true") async throws -> Answer {
        try await send(.put, "/1/files_put/dropbox\(Self.encode(path))?\(query)", body: bytes)
    }

    /// `GET /revisions`, newest first.
    func revisions(_ path: String) async throws -> [Metadata] {
        try await send(.get, "/1/revisions/dropbox\(Self.encode(path))?rev_limit=1000").decode([Metadata].self)
    }

    /// What the club holds at or below a folder, by key, as a first `/delta` tells it.
    func tree(_ prefix: String = "/") async throws -> [String: Metadata] {
        var tree: [String: Metadata] = [:]
        var cursor: String?
        while true {
            let parameters = "path_prefix=\(Self.encode(prefix))" + (cursor.map { "&cursor=\(Self.encode($0))" } ?? "")
            let page = try await send(.post, "/1/delta?\(parameters)").decode(DeltaPage.self)
            for entry in page.entries { tree[entry.key.string] = entry.metadata }
            guard page.hasMore else { return tree }
            cursor = page.cursor
        }
    }

    /// The whole state as text, to see that nothing changed.
    func fingerprint() async throws -> [String] {
        try await tree().map { key, metadata in
            "\(key) \(metadata.rev?.description ?? "-") \(metadata.bytes) \(metadata.contentHash?.description ?? "-")"
        }.sorted()
    }

    /// The contents by key, whatever their versions are called.
    func hashes() async throws -> [String: ContentHash?] { try await tree().mapValues(\.contentHash) }

    /// The number by which ByteClub's own protocol knows a folder or file of the top level.
    func node(of name: String) async throws -> NodeID {
        let answer = try await send(.get, "/1/sync/changes?limit=1000&bodies=false")
        let page = try SyncFrame(answer.bytes).map { try JSONReader.read(SyncPage.self, from: $0.head) }
        return try #require(page?.entries.first { $0.name == name && $0.parent == .root }?.node)
    }

    /// A path or parameter for a target: all but unreserved characters and slashes is percent-encoded.
    static func encode(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x2F, 0x5F, 0x7E:
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default: encoded += "%" + Hexadecimal.encode([byte]).uppercased()
            }
        }
        return encoded
    }
}
