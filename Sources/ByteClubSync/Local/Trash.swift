import Glibc

/// The trash of replaced and deleted files: `trash/<day>/<path>` in the control directory.
struct Trash: Sendable {
    private let top: any DiskFolder

    init(_ folder: any DiskFolder) { top = folder }

    /// Moves an entry to the trash of a day under its path, with a number appended if that exists.
    ///
    /// - Returns: The path in the trash.
    @discardableResult
    func take(
        _ name: String, from folder: any DiskFolder, as path: String, at now: Int64
    ) throws(FileError) -> String {
        let (parent, last) = LocalPath.split(path)
        var target = top
        var location = ""
        for part in LocalPath.join(WallClock.day(now), parent).utf8.split(separator: UInt8(ascii: "/")) {
            let wanted = String(Substring(part))
            var number = 0
            while true {
                let candidate = Self.numbered(wanted, number)
                do throws(FileError) {
                    target = try target.subfolder(candidate)
                    location = LocalPath.join(location, candidate)
                    break
                } catch {
                    guard error.code == ENOTDIR || error.code == ELOOP else { throw error }
                    number += 1
                }
            }
        }
        var number = 0
        while true {
            let candidate = Self.numbered(last, number)
            do throws(FileError) {
                try folder.rename(name, to: target, candidate, .withoutReplacing)
                return LocalPath.join(location, candidate)
            } catch {
                guard error.code == EEXIST else { throw error }
                number = try number == 0 ? Self.firstFree(in: target, last) : number + 1
            }
        }
    }

    /// The first number under which a name is free, by galloping search.
    private static func firstFree(in folder: any DiskFolder, _ name: String) throws(FileError) -> Int {
        var (taken, free) = (0, 1)
        while try folder.entry(numbered(name, free)) != nil { (taken, free) = (free, free * 2) }
        while free - taken > 1 {
            let middle = (taken + free) / 2
            if try folder.entry(numbered(name, middle)) == nil { free = middle } else { taken = middle }
        }
        return free
    }

    /// The folder in the trash that holds a path, and the last name; nil when it does not exist.
    func find(_ path: String) -> (folder: any DiskFolder, name: String)? {
        let (parent, name) = LocalPath.split(path)
        return (try? top.folder(below: parent)).map { ($0, name) }
    }

    /// The days of the trash, in their order; other entries in the trash directory are ignored.
    func days() throws(FileError) -> [String] {
        try top.list().filter { $0.kind == .folder && Self.isDay($0.name) }.map(\.name).sorted()
    }

    /// Empties the trash of a day.
    ///
    /// `keep` is called for each file before its removal, with its folder and its path below the day; true keeps the
    /// file, or means that it was moved elsewhere.
    func empty(
        _ day: String, unless keep: (_ folder: any DiskFolder, _ file: DiskEntry, _ path: String) throws -> Bool
    ) throws {
        guard try Self.empty(top.folder(day), "", keep) else { return }
        try top.removeFolder(day)
    }

    /// Returns false when something was kept.
    private static func empty(
        _ folder: any DiskFolder, _ path: String, _ keep: (any DiskFolder, DiskEntry, String) throws -> Bool
    ) throws -> Bool {
        var isEmpty = true
        for entry in try folder.list().sorted(by: { $0.name < $1.name }) {
            let inner = LocalPath.join(path, entry.name)
            if entry.kind == .folder {
                if try empty(folder.folder(entry.name), inner, keep) {
                    try folder.removeFolder(entry.name)
                } else {
                    isEmpty = false
                }
            } else if !entry.isDecodable {
                isEmpty = false
            } else if try !keep(folder, entry, inner) {
                try folder.removeFile(entry.name)
            } else if try folder.entry(entry.name) != nil {
                isEmpty = false
            }
        }
        return isEmpty
    }

    private static func isDay(_ name: String) -> Bool {
        name.utf8.count == 10
            && name.utf8.enumerated().allSatisfy { index, byte in
                let isDash = byte == UInt8(ascii: "-")
                return index == 4 || index == 7 ? isDash : (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            }
    }

    private static func numbered(_ name: String, _ number: Int) -> String {
        if number == 0 { return name }
        let tail = ".\(number)"
        var stem = Substring(name)
        while stem.utf8.count + tail.utf8.count > 255, !stem.isEmpty { stem.removeLast() }
        return stem + tail
    }
}
