import ByteClubCore
import Glibc

/// The control directory at the mirror's root: never scanned, never synced.
struct ControlDirectory: Sendable {
    /// Its name.
    static let name = MirrorDirectory.privateName
    private static let markerName = "root"
    private static let stagingName = "staging"

    /// Where new contents are written, and displaced files stay until they are checked.
    let staging: any DiskFolder
    let trash: Trash
    /// The directory itself, in which nothing is recovered.
    let top: any DiskFolder

    /// Opens the directory and creates missing parts.
    init(in root: any DiskFolder) throws(FileError) {
        top = try root.subfolder(Self.name)
        try top.closeToOthers()
        guard try top.stat().fingerprint.device == root.stat().fingerprint.device else {
            throw FileError(operation: "use", path: Self.name, code: EXDEV)
        }
        staging = try top.subfolder(Self.stagingName)
        // What a crash leaves of it is removed like any content that was being written.
        try? staging.learnLimits(with: StagedName.writing(.root).text)
        trash = Trash(try top.subfolder("trash"))
    }

    /// Acquires or releases the mirror for one engine; false while another has it, by whatever path.
    func setLocked(_ isLocked: Bool) throws(FileError) -> Bool { try top.setLocked(isLocked) }

    /// The identity of the database that the mirror belongs to; nil when it has no marker.
    static func marker(in root: any DiskFolder) throws(FileError) -> String? {
        do throws(FileError) {
            let bytes = try root.folder(name).open(markerName).bytes(limit: 128)
            return String(decoding: bytes.prefix { $0 > UInt8(ascii: " ") }, as: UTF8.self)
        } catch {
            guard error.isMissing else { throw error }
            return nil
        }
    }

    /// Writes the identity of the mirror's database.
    func setMarker(_ id: String) throws(FileError) {
        if try top.entry(Self.markerName) != nil { try top.removeFile(Self.markerName) }
        if try top.entry("root.new") != nil { try top.removeFile("root.new") }
        let file = try top.create("root.new")
        try file.write(Array((id + "\n").utf8))
        try file.sync()
        try top.rename("root.new", to: top, Self.markerName, .withoutReplacing)
        try top.sync()
    }

    /// Removes the marker of a mirror's root, unfinished transfers, and everything empty in the directory, which is
    /// removed last.
    ///
    /// - Returns: Whether something is left in it.
    static func remove(from root: any DiskFolder) throws(FileError) -> Bool {
        let top = try root.folder(name)
        try top.removeFile(markerName)
        if try top.entry(stagingName) != nil { try removeTransfers(from: top.folder(stagingName)) }
        for folder in try top.list() where folder.kind == .folder {
            do throws(FileError) { try top.removeFolder(folder.name) } catch {
                guard error.code == ENOTEMPTY else { throw error }
            }
        }
        let isEmpty = try top.list().isEmpty
        if isEmpty { try root.removeFolder(name) }
        try root.sync()
        return !isEmpty
    }

    /// Removes the files of unfinished transfers, which no engine will resume.
    private static func removeTransfers(from staging: any DiskFolder) throws(FileError) {
        for entry in try staging.list() {
            switch StagedName(entry.name) {
            case .downloading: try StagedTransfers.remove(entry.name, from: staging)
            case .uploading: try staging.removeFile(entry.name)
            default: continue
            }
        }
    }
}
