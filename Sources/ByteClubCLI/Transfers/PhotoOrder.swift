import ByteClubCore
import ByteClubHTTP
import FoundationEssentials

/// The record of a photo's transfer, with which the daemon performs it; it contains no secret.
protocol PhotoOrder: Codable, Hashable, Sendable {
    /// The kind of work.
    static var kind: String { get }
    /// Its label for people.
    var label: String { get }
}

extension PhotoOrder {
    /// Reads a record.
    ///
    /// - Throws: ``Failure`` for a record of another version.
    init(payload: [UInt8]) throws {
        do { self = try JSONDecoder().decode(Self.self, from: Data(payload)) } catch {
            throw Failure(
                .badData, "the transfer was queued by another version of byteclub; cancel it and start again")
        }
    }

    /// The record; equal orders are equal bytes.
    func payload() throws -> [UInt8] { try JSON.line(self) }

    /// The request to the daemon.
    func request(rateLimit: Int?) throws -> BackgroundRequest {
        var options = BackgroundOptions()
        options.label = label
        options.rateLimit = rateLimit
        return BackgroundRequest(.custom(kind: Self.kind, payload: try payload()), options: options)
    }
}

/// A transfer's server, and the trust options for it; the token is read at each attempt.
struct TransferServer: Codable, Hashable, Sendable {
    /// Its origin.
    var address: String
    /// The signed-in member; nil when unknown.
    var member: String?
    /// The absolute path of a PEM file with trusted authorities; nil for the login's.
    var certificateAuthorityFile: String?
    /// The only accepted key of the server; nil for the login's.
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
    /// The expected state of the file.
    var state: FileState
    /// Changes to the photo.
    var change: PhotoChange

    var label: String { PhotoFile.serverName(of: file) }

    /// Checks that the file is unchanged.
    ///
    /// - Throws: ``Failure`` when it has changed, a ``FileFailure`` when it cannot be read.
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
    /// The absolute path of the target.
    var file: String
    /// Whether to replace an existing file.
    var isForced: Bool

    var label: String { LocalFile.name(of: file) }
}
