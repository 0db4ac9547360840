import ByteClubCore
import NIOCore

/// A folder as a zip file, made while it is sent.
///
/// It has what was in the folder when the request came: contents never change, and one that is gone since ends the
/// download. Files that may not be given are named in a text at its end.
struct FolderArchive: BodyProducer {
    /// The most entries of an archive; their names are held in memory until it is sent.
    static let mostEntries = 50_000
    /// Of longer contents the sum is told after the bytes, so that no client waits for it.
    private static let longestRead: Int64 = 64 << 20
    /// Small records and contents are sent together in pieces of so many bytes.
    private static let smallPiece = 32 << 10

    /// The bytes of a file for the archive.
    enum Content: Sendable {
        case given(StoredContent)
        /// It may not be given.
        case withheld
    }

    /// The entries in their order, folders before what is in them.
    let entries: [ArchiveEntry]
    let length: Int64?
    private let content: @Sendable (ArchiveEntry) async throws -> Content
    private let lease: FairSemaphore.Lease

    /// An archive of some entries.
    ///
    /// - Parameters:
    ///   - entries: The entries.
    ///   - isAsStored: Whether all files are given as they are, so that the length is known.
    ///   - lease: What is given back once it is sent.
    ///   - content: Finds a file's bytes.
    init(
        _ entries: [ArchiveEntry], isAsStored: Bool, holding lease: FairSemaphore.Lease,
        content: @escaping @Sendable (ArchiveEntry) async throws -> Content
    ) {
        self.entries = entries
        self.content = content
        self.lease = lease
        length = isAsStored ? Self.length(of: entries) : nil
    }

    private static func length(of entries: [ArchiveEntry]) -> Int64 {
        var writer = ZipWriter()
        for entry in entries {
            let length = UInt64(entry.bytes)
            _ = writer.begin(entry.zipped, length: length, sum: entry.bytes <= longestRead ? 0 : nil)
            _ = writer.end(length: length, sum: 0)
        }
        _ = writer.finish()
        return Int64(writer.offset)
    }

    func produce(pieceSize: () -> Int, _ send: (ByteBuffer) async throws -> Void) async throws {
        defer { withExtendedLifetime(lease) {} }
        var writer = ZipWriter()
        var waiting = ByteBuffer()
        var withheld: [String] = []
        for entry in entries {
            if entry.isFolder {
                waiting.writeBytes(writer.begin(entry.zipped, length: 0, sum: 0))
                waiting.writeBytes(writer.end(length: 0, sum: 0))
            } else {
                switch try await content(entry) {
                case .withheld: withheld.append(entry.name)
                case .given(.bytes(let bytes)):
                    let (count, sum) = (UInt64(bytes.count), ZipSum.of(bytes))
                    waiting.writeBytes(writer.begin(entry.zipped, length: count, sum: sum))
                    waiting.writeBytes(bytes)
                    waiting.writeBytes(writer.end(length: count, sum: sum))
                case .given(.blob(let blob)):
                    try await Self.send(blob, entry, &writer, &waiting, pieceSize, send)
                }
            }
            if waiting.readableBytes >= Self.smallPiece { try await Self.flush(&waiting, pieceSize(), send) }
        }
        if !withheld.isEmpty {
            let text = Array(Self.note(about: withheld).utf8)
            let (count, sum) = (UInt64(text.count), ZipSum.of(text))
            let note = ZipWriter.Entry(name: ArchiveEntry.free("Not included.txt", beside: entries), modified: 0)
            waiting.writeBytes(writer.begin(note, length: count, sum: sum))
            waiting.writeBytes(text)
            waiting.writeBytes(writer.end(length: count, sum: sum))
        }
        waiting.writeBytes(writer.finish())
        try await Self.flush(&waiting, pieceSize(), send)
    }

    /// Sends a large content with its records.
    ///
    /// - Throws: ``StorageError`` `damaged` when its bytes are not what they were when it was read for their sum.
    private static func send(
        _ blob: any Blob, _ entry: ArchiveEntry, _ writer: inout ZipWriter, _ waiting: inout ByteBuffer,
        _ pieceSize: () -> Int, _ send: (ByteBuffer) async throws -> Void
    ) async throws {
        let reader = try blob.open()
        let length = UInt64(blob.length)
        var expected: ZipSum?
        if blob.length <= longestRead {
            var sum = ZipSum()
            try await read(reader, blob.length, pieceSize) { sum.add($0) }
            expected = sum
        }
        waiting.writeBytes(writer.begin(entry.zipped, length: length, sum: expected?.value))
        try await flush(&waiting, pieceSize(), send)
        var sum = ZipSum()
        try await read(reader, blob.length, pieceSize) { piece in
            sum.add(piece)
            try await send(piece)
        }
        guard sum == expected ?? sum else { throw StorageError(.damaged, "a content changed while it was sent") }
        waiting.writeBytes(writer.end(length: length, sum: sum.value))
    }

    private static func read(
        _ reader: any BlobReader, _ length: Int64, _ pieceSize: () -> Int,
        _ body: (ByteBuffer) async throws -> Void
    ) async throws {
        var offset: Int64 = 0
        while offset < length {
            let piece = try await reader.read(at: offset, count: Int(min(Int64(pieceSize()), length - offset)))
            offset += Int64(piece.readableBytes)
            try await body(piece)
        }
    }

    private static func flush(
        _ waiting: inout ByteBuffer, _ pieceSize: Int, _ send: (ByteBuffer) async throws -> Void
    ) async throws {
        while waiting.readableBytes > 0, let piece = waiting.readBytes(length: min(pieceSize, waiting.readableBytes)) {
            try await send(ByteBuffer(bytes: piece))
        }
        waiting.clear(minimumCapacity: 0)
    }

    private static func note(about names: [String]) -> String {
        """
        These files are not included, because they may reveal where they were taken:

        \(names.joined(separator: "\n"))

        The sender can share them with "location=keep", or send them another way.

        """
    }
}

extension ZipSum {
    /// Adds the readable bytes of a buffer.
    fileprivate mutating func add(_ buffer: ByteBuffer) {
        unsafe buffer.withUnsafeReadableBytes { unsafe add($0) }
    }
}

/// One entry of an archive, without more memory than it takes.
struct ArchiveEntry: Hashable, Sendable {
    /// The path in the archive, safe to unpack everywhere.
    var name: String
    /// The path below the folder.
    let path: String
    let isFolder: Bool
    let isExecutable: Bool
    let revision: Int64
    let bytes: Int64
    let hash: ContentHash?
    /// The time of the content, in seconds since 1970.
    let modified: Int64

    /// An entry of a folder, which the archive has as its own only folder.
    init(_ entry: FolderEntry, of folder: RemotePath) {
        path = String(entry.path.string.utf8.dropFirst(folder.isRoot ? 1 : folder.string.utf8.count + 1)) ?? ""
        let components = path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
        name = ([folder.name] + components).map(Self.safe).joined(separator: "/")
        isFolder = entry.isFolder
        isExecutable = entry.isExecutable ?? false
        revision = entry.revision
        bytes = entry.bytes
        hash = entry.contentHash
        modified = (entry.clientModified?.date ?? entry.modified).seconds
    }

    /// The folder itself.
    init(_ folder: FolderEntry, as name: String) {
        self.name = name
        path = ""
        isFolder = true
        isExecutable = false
        revision = folder.revision
        bytes = 0
        hash = nil
        modified = folder.modified.seconds
    }

    /// The version of the entry in the folder.
    func entry(in folder: RemotePath) throws -> FolderEntry {
        FolderEntry(
            path: try RemotePath(folder.string + "/" + path), isFolder: isFolder, revision: revision, bytes: bytes,
            contentHash: hash, modified: APIDate(seconds: modified), author: 0)
    }

    var zipped: ZipWriter.Entry {
        ZipWriter.Entry(name: name, isFolder: isFolder, isExecutable: isExecutable, modified: modified)
    }

    /// A component of a path that leads nowhere else on any system: Windows also takes `\` and `:` for more than
    /// letters.
    static func safe(_ name: String) -> String {
        if name.isEmpty || name == "." || name == ".." { return "_" }
        let isUnsafe = { (scalar: Unicode.Scalar) in
            scalar == "\\" || scalar == "/" || scalar == ":" || scalar.value < 0x20 || scalar.value == 0x7F
        }
        guard name.unicodeScalars.contains(where: isUnsafe) else { return name }
        return String(String.UnicodeScalarView(name.unicodeScalars.map { isUnsafe($0) ? "_" : $0 }))
    }

    /// The entries with names of which no two are the same, after some were made safe, each in its folder's own.
    ///
    /// Names count upwards, so that the time is linear in the entries, whatever they are called.
    static func distinct(_ entries: [ArchiveEntry]) -> [ArchiveEntry] {
        var used: Set<PathKey> = []
        var numbers: [PathKey: Int] = [:]
        var folders: [String: String] = [:]
        return entries.map { entry in
            var entry = entry
            let (folder, own) = split(entry.path)
            if let name = folders[folder] { entry.name = name + "/" + safe(String(own)) }
            let wanted = PathKey(folded: PathKey.fold(entry.name))
            if !used.insert(wanted).inserted {
                entry.name = free(entry.name, from: numbers[wanted] ?? 1) { name, number in
                    numbers[wanted] = number + 1
                    return used.insert(PathKey(folded: PathKey.fold(name))).inserted
                }
            }
            if entry.isFolder { folders[entry.path] = entry.name }
            return entry
        }
    }

    /// The folder in a path, and the name behind it.
    private static func split(_ path: String) -> (folder: String, name: Substring) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return ("", path[...]) }
        return (String(path[..<slash]), path[path.utf8.index(after: slash)...])
    }

    /// A name in the archive's folder that no entry has.
    static func free(_ name: String, beside entries: [ArchiveEntry]) -> String {
        let root = entries.first.map { $0.name.prefix { $0 != "/" } + "/" } ?? ""
        let names = Set(entries.map(\.name))
        return names.contains(root + name) ? free(root + name) { name, _ in !names.contains(name) } : root + name
    }

    private static func free(_ name: String, from first: Int = 1, _ isFree: (String, Int) -> Bool) -> String {
        let slash = name.utf8.lastIndex(of: UInt8(ascii: "/")) ?? name.startIndex
        let dot = name.utf8[slash...].dropFirst().lastIndex(of: UInt8(ascii: ".")) ?? name.endIndex
        var number = first
        while true {
            let candidate = "\(name[..<dot]) (\(number))\(name[dot...])"
            if isFree(candidate, number) { return candidate }
            number += 1
        }
    }
}
