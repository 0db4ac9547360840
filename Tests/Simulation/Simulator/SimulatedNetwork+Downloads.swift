import ByteClubCore
import MemoryRemote

@testable import ByteClubSync

/// Downloads to files, piece by piece, as the real remote makes them: into a hidden part beside the file, which the next
/// download of the same version goes on with.
extension SimulatedNetwork {
    /// How many bytes come between two faults.
    private static let piece = 16 << 10

    func download(
        _ path: RemotePath, revision: Revision?, limit: Int64?, to file: String, journal: String?,
        progress: (@Sendable (TransferProgress) -> Void)?
    ) async throws(RemoteError) -> Metadata {
        let start = starts
        rates.append(TransferRate.limit)
        let (bytes, metadata) = try await carry { () async throws(RemoteError) in
            let found = try await self.server.content(at: path, revision: revision, range: nil, limit: Int.max)
            return (self.distort(found.bytes), self.shown(found.metadata))
        }
        let (place, name) = LocalPath.split(file)
        guard let folder = try onDisk({ () throws(FileError) in try disk?.folder(at: place) }) else {
            throw RemoteError(.localFile, "there is no folder for '\(file)'")
        }
        let part = ".byteclub-\(metadata.rev.map(String.init(describing:)) ?? "").part"
        let written = try onDisk { () throws(FileError) in
            try folder.entry(part) == nil ? folder.create(part) : folder.open(part)
        }
        var count = try onDisk { () throws(FileError) in Int(try written.stat().fingerprint.size) }
        while count < bytes.count {
            await delay()
            try check("piece")
            if starts != start || Task.isCancelled { throw RemoteError(.cancelled, "the download was stopped") }
            let piece = Array(bytes[count..<min(count + Self.piece, bytes.count)])
            try onDisk { () throws(FileError) in
                try written.write(piece)
                try written.sync()
            }
            count += piece.count
            downloaded += piece.count
            onPiece()
            progress?(TransferProgress(completed: Int64(count), total: Int64(bytes.count)))
        }
        let hash = try onDisk { () throws(FileError) in try Scanner.hash(written) }
        guard metadata.contentHash == nil || hash == metadata.contentHash else {
            try onDisk { () throws(FileError) in try folder.removeFile(part) }
            throw RemoteError(.protocolViolation, "the server sent other bytes than their hash tells")
        }
        try onDisk { () throws(FileError) in try folder.rename(part, to: folder, name, .withoutReplacing) }
        return metadata
    }

    func onDisk<Value>(_ work: () throws(FileError) -> Value) throws(RemoteError) -> Value {
        do throws(FileError) { return try work() } catch { throw RemoteError(.localFile, error.description) }
    }
}

extension SimulatedDisk {
    /// What a path of this disk begins with, where its folders have paths.
    static let pathPrefix = "/simulated"

    /// A file that is open, by its path.
    func file(at path: String) -> SimulatedFile? { paths[path]?.file }

    /// Opens a folder by its path.
    func folder(at path: String) throws(FileError) -> any DiskFolder {
        var folder = try openRoot()
        for name in path.dropFirst(Self.pathPrefix.count).split(separator: "/") {
            folder = try folder.folder(String(name))
        }
        return folder
    }
}
