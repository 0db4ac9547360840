import CLinux
import Glibc

/// The folder at the mirror's root that is ours alone: never scanned, never synced.
final class PrivateArea: Sendable {
    let staging: FileDescriptor
    let trash: FileDescriptor
    private let top: FileDescriptor
    private static let markerName = "root"

    /// Opens the area, making what is missing.
    init(in mirror: MirrorDirectory) throws(FileError) {
        top = try mirror.root.directoryMakingIt(MirrorDirectory.privateName, mode: 0o700)
        guard Fingerprint(try top.status()).device == mirror.device else {
            throw FileError(operation: "use", path: MirrorDirectory.privateName, code: EXDEV)
        }
        staging = try top.directoryMakingIt("staging", mode: 0o700)
        trash = try top.directoryMakingIt("trash", mode: 0o700)
    }

    /// Which database the mirror belongs to; nil when it has no marker.
    static func marker(in mirror: MirrorDirectory) throws(FileError) -> String? {
        do throws(FileError) {
            let file = try mirror.root.directory(MirrorDirectory.privateName).open(markerName, O_RDONLY | O_NONBLOCK)
            var bytes = [UInt8](repeating: 0, count: 128)
            let count = try file.read(into: &bytes, at: 0)
            return String(String(decoding: bytes.prefix(count), as: UTF8.self).prefix { !$0.isWhitespace })
        } catch {
            guard error.isMissing else { throw error }
            return nil
        }
    }

    /// Makes the mirror belong to a database.
    func setMarker(_ id: String) throws(FileError) {
        let file = try top.open("root.new", O_WRONLY | O_CREAT | O_TRUNC)
        try file.write(Array((id + "\n").utf8))
        try file.sync()
        try top.rename("root.new", to: top, Self.markerName)
        try top.sync()
    }

    /// A path in today's trash for an entry, one like its own when that is taken.
    func freePlace(for path: String) throws(FileError) -> String {
        let (folder, last) = LocalPath.split(path)
        var target = trash
        var place = ""
        for part in LocalPath.join(WallClock.day(WallClock.now()), folder).utf8.split(separator: UInt8(ascii: "/")) {
            let name = try Self.freeName(String(Substring(part)), in: target) { $0.st_mode & S_IFMT == S_IFDIR }
            target = try target.directoryMakingIt(name, mode: 0o700)
            place = LocalPath.join(place, name)
        }
        return LocalPath.join(place, try Self.freeName(last, in: target) { _ in false })
    }

    /// A name like another that is free, or taken by something that will do.
    private static func freeName(
        _ name: String, in folder: FileDescriptor, unless isFit: (stat) -> Bool
    ) throws(FileError) -> String {
        var number = 0
        while true {
            let candidate = number == 0 ? name : numbered(name, number)
            guard let status = try folder.status(of: candidate), !isFit(status) else { return candidate }
            number += 1
        }
    }

    /// Moves an entry to a free path in the trash.
    func discard(_ name: String, from directory: FileDescriptor, to trashPath: String) throws(FileError) {
        let (folder, last) = LocalPath.split(trashPath)
        try directory.moveWithoutReplacing(name, to: makeTrashFolder(folder), last)
    }

    /// Moves an entry into today's trash under its own path, or one like it when that is taken.
    func discard(_ name: String, from directory: FileDescriptor, as path: String) throws(FileError) {
        try discard(name, from: directory, to: freePlace(for: path))
    }

    private func makeTrashFolder(_ path: String) throws(FileError) -> FileDescriptor {
        var target = trash
        for part in path.utf8.split(separator: UInt8(ascii: "/")) {
            target = try target.directoryMakingIt(String(Substring(part)), mode: 0o700)
        }
        return target
    }

    private static func numbered(_ name: String, _ number: Int) -> String {
        let tail = ".\(number)"
        var stem = Substring(name)
        while stem.utf8.count + tail.utf8.count > 255, !stem.isEmpty { stem.removeLast() }
        return stem + tail
    }

    /// The directory in the trash that holds a path, and the last name; nil when it is gone.
    func placeInTrash(_ path: String) -> (directory: FileDescriptor, name: String)? {
        let (folder, name) = LocalPath.split(path)
        var target = trash
        for part in folder.utf8.split(separator: UInt8(ascii: "/")) {
            guard let next = try? target.directory(String(Substring(part))) else { return nil }
            target = next
        }
        return (target, name)
    }
}

extension FileDescriptor {
    /// Renames an entry to a name that must be free.
    ///
    /// Where the file system cannot do that in one step, a link makes sure of it for files.
    func moveWithoutReplacing(_ name: String, to directory: FileDescriptor, _ newName: String) throws(FileError) {
        do throws(FileError) {
            try rename(name, to: directory, newName, byteclub_rename_noreplace)
        } catch {
            guard error.code == EINVAL || error.code == ENOSYS else { throw error }
            if unsafe linkat(number, name, directory.number, newName, 0) == 0 {
                try remove(name)
                return
            }
            let code = errno
            guard code != EEXIST, try directory.status(of: newName) == nil else {
                throw FileError(operation: "rename", path: name, code: EEXIST)
            }
            try rename(name, to: directory, newName)
        }
    }
}
