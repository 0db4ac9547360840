internal import ByteClubFiles

/// A file being written that appears whole or not at all: it is beside its target until it is finished, and removed if
/// it never is.
struct NewFile: ~Copyable {
    private let path: String
    private var draft: DraftFile<MediaError>

    /// Writes a whole file at once.
    static func write(_ bytes: [UInt8], to path: String) throws(MediaError) {
        var file = try NewFile(path: path)
        try file.append(bytes)
        try file.finish()
    }

    init(path: String) throws(MediaError) {
        guard !path.utf8.contains(0), !path.hasSuffix("/"), !path.isEmpty else {
            throw MediaError(.io, "\(path.debugDescription) is not a file's name")
        }
        let prefix = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
        let name = String(UInt64.random(in: 0 ... .max), radix: 36)
        draft = try DraftFile("\(prefix).byteclub-\(name)", mode: 0o666, shownAs: path)
        self.path = path
    }

    mutating func append(_ bytes: [UInt8]) throws(MediaError) { try draft.file.write(bytes) }

    /// Syncs the file, renames it over its target and syncs the directory.
    mutating func finish() throws(MediaError) {
        try draft.file.sync(for: "write")
        try draft.place(at: path, for: "replace")
        try OwnedDescriptor<MediaError>.syncFolder(parentFolder(of: path))
    }
}
