import ByteClubCore
import ByteClubHTTP
import FoundationEssentials

/// What is recorded of a transfer of one photo, so that the daemon can do it; no secret is in it.
protocol PhotoOrder: Codable, Hashable, Sendable {
    /// The name of the work that does it.
    static var kind: String { get }
    /// What people are told that it is.
    var label: String { get }
}

extension PhotoOrder {
    /// Reads what was recorded.
    ///
    /// - Throws: ``Failure`` when it was recorded by another version.
    init(payload: [UInt8]) throws {
        do { self = try JSONDecoder().decode(Self.self, from: Data(payload)) } catch {
            throw Failure(
                .badData, "the transfer was queued by another version of byteclub; cancel it and start again")
        }
    }

    /// What is recorded; equal orders are equal bytes.
    func payload() throws -> [UInt8] { try JSON.line(self) }

    /// What the daemon is asked to do.
    func request(rateLimit: Int?) throws -> BackgroundRequest {
        var options = BackgroundOptions()
        options.label = label
        options.rateLimit = rateLimit
        return BackgroundRequest(.custom(kind: Self.kind, payload: try payload()), options: options)
    }
}

/// Which server a transfer is with, and how flags and variables had it trusted; the token is looked up at each attempt.
struct TransferServer: Codable, Hashable, Sendable {
    /// Its origin.
    var address: String
    /// The member who was logged in; nil where that is unknown.
    var member: String?
    /// A PEM file of authorities to trust, an absolute path; nil for what was stored with the login.
    var certificateAuthorityFile: String?
    /// The only key that it may have; nil for what was stored with the login.
    var pin: String?
    /// Whether http will do.
    var allowsInsecureHTTP: Bool
}

/// One photo on its way to the server.
struct PhotoUploadOrder: PhotoOrder {
    static let kind = "photo-upload"

    var server: TransferServer
    /// The folder of the server.
    var folder: String
    /// The file's absolute path.
    var file: String
    /// The state of the file that is to be sent.
    var state: FileState
    /// What is changed in it.
    var change: PhotoChange

    var label: String { PhotoFile.serverName(of: file) }

    /// Makes sure that the file is as it was.
    ///
    /// - Throws: ``Failure`` when it is not, a ``FileError`` when it cannot be read.
    func checkState() throws {
        guard try FileState(of: file) == state else {
            throw Failure(.badData, "'\(file)' has changed since it was queued; run the upload again")
        }
    }
}

/// One photo on its way from the server.
struct PhotoDownloadOrder: PhotoOrder {
    static let kind = "photo-download"

    var server: TransferServer
    /// The photo's path on the server.
    var path: String
    /// The absolute path of the file to write.
    var file: String
    /// Whether a file that is there may be replaced.
    var isForced: Bool

    var label: String { LocalFile.name(of: file) }
}
