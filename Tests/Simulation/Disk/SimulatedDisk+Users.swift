import ByteClubCore

@testable import ByteClubSync

/// What people and their programs do to the disk. None of it counts as a call; what makes no sense does nothing.
extension SimulatedDisk {
    /// Writes a file in place, and makes it when it is missing.
    @discardableResult
    func write(_ path: String, _ content: [UInt8]) -> Bool {
        guard let (folder, name) = location(path) else { return false }
        if let index = folder.index(name, foldsCase: foldsCase) {
            let node = folder.entries[index].node
            guard node.kind == .file else { return false }
            fill(node, content)
        } else {
            fill(make(.file, name, in: folder), content)
        }
        notify(.closed, folder, name.text)
        return true
    }

    /// Writes a text in place, and makes the file when it is missing.
    @discardableResult
    func write(_ path: String, _ text: String) -> Bool { write(path, Array(text.utf8)) }

    /// Saves as careful editors do: into another file, which then takes the name; the old one may stay as `name.bak`.
    @discardableResult
    func save(_ path: String, _ text: String, keepsBackup: Bool = false) -> Bool {
        guard kind(path) == .file else { return false }
        if keepsBackup {
            return move(path, to: path + ".bak") && write(path, text)
        }
        return write(path + ".new", text) && move(path + ".new", to: path)
    }

    /// Renames or moves, over a file that is there.
    @discardableResult
    func move(_ path: String, to target: String) -> Bool {
        guard let (folder, name) = location(path), let index = folder.index(name, foldsCase: foldsCase),
            let (into, newName) = location(target)
        else { return false }
        let moved = folder.entries[index].node
        var above: SimulatedNode? = into
        while let node = above {
            if node === moved { return false }
            above = node.parent
        }
        if let other = into.index(newName, foldsCase: foldsCase).map({ into.entries[$0].node }), other !== moved {
            if other.kind == .folder || moved.kind == .folder { return false }
        }
        move(index, of: folder, to: into, newName)
        return true
    }

    /// Copies a file, or a folder with all that is in it, to a free place: as new files with the same contents.
    @discardableResult
    func copy(_ path: String, to target: String) -> Bool {
        guard let source = node(path), node(target) == nil, !LocalPath.isWithin(target, path) else { return false }
        if source.kind == .file { return write(target, source.content) }
        let inner = tree(below: path)
        guard source.kind == .folder, makeFolder(target) else { return false }
        for (location, content) in inner {
            let rest = String(decoding: location.utf8.dropFirst(path.utf8.count), as: UTF8.self)
            if let content { write(target + rest, content) } else { makeFolder(target + rest) }
        }
        return true
    }

    /// Deletes a file, or a folder with all that is in it.
    @discardableResult
    func delete(_ path: String) -> Bool {
        guard let (folder, name) = location(path), let index = folder.index(name, foldsCase: foldsCase) else {
            return false
        }
        empty(folder.entries[index].node)
        remove(index, from: folder)
        return true
    }

    /// Makes a folder.
    @discardableResult
    func makeFolder(_ path: String) -> Bool {
        guard let (folder, name) = location(path), folder.index(name, foldsCase: foldsCase) == nil else { return false }
        _ = make(.folder, name, in: folder)
        return true
    }

    /// Makes something that is neither a file nor a folder.
    @discardableResult
    func makeOther(_ path: String, _ what: String = "a symbolic link") -> Bool {
        guard let (folder, name) = location(path), folder.index(name, foldsCase: foldsCase) == nil else { return false }
        _ = make(.other(what), name, in: folder)
        return true
    }

    /// Makes a file whose name is not UTF-8.
    @discardableResult
    func makeUndecodable(_ path: String) -> Bool {
        guard let (folder, name) = location(path) else { return false }
        _ = make(.file, name, in: folder, isDecodable: false)
        return true
    }

    /// Gives a file a second name.
    @discardableResult
    func link(_ path: String, to target: String) -> Bool {
        guard let node = node(path), node.kind == .file, let (folder, name) = location(target),
            folder.index(name, foldsCase: foldsCase) == nil
        else { return false }
        link(node, name, in: folder)
        return true
    }

    /// Forbids reading a file or listing a folder, or allows it again.
    func lock(_ path: String, _ isLocked: Bool = true) {
        guard let node = node(path) else { return }
        node.isLocked = isLocked
        node.changed = stamp
    }

    /// Sets the time at which a file says to have been written.
    func touch(_ path: String, modified: Int64) {
        guard let node = node(path) else { return }
        (node.modified, node.changed) = (modified, stamp)
    }

    /// Lets a file be executed, or not any more; false where there is no file.
    @discardableResult
    func setExecutable(_ path: String, _ isExecutable: Bool) -> Bool {
        guard let (folder, name) = location(path), let node = node(path), node.kind == .file else { return false }
        (node.isExecutable, node.changed) = (isExecutable, stamp)
        notify(.closed, folder, name.text)
        return true
    }

    /// A file that a program has open for writing.
    final class OpenFile {
        private let disk: SimulatedDisk
        private let node: SimulatedNode
        private let epoch: Int

        fileprivate init(_ disk: SimulatedDisk, _ node: SimulatedNode) {
            self.disk = disk
            self.node = node
            epoch = disk.epoch
            node.writers += 1
        }

        /// Writes, wherever the file is by now.
        func write(_ text: String) { if epoch == disk.epoch { disk.fill(node, Array(text.utf8)) } }

        /// Ends writing.
        func close() { if epoch == disk.epoch, node.writers > 0 { node.writers -= 1 } }
    }

    /// Opens a file for writing and keeps it open.
    func openForWriting(_ path: String) -> OpenFile? {
        guard let node = node(path), node.kind == .file else { return nil }
        return OpenFile(self, node)
    }

    // MARK: Looking

    /// What is at a path; the root is the empty path.
    func node(_ path: String) -> SimulatedNode? {
        if path.isEmpty { return root }
        guard let (folder, name) = location(path) else { return nil }
        return folder.index(name, foldsCase: foldsCase).map { folder.entries[$0].node }
    }

    /// What kind of entry is at a path.
    func kind(_ path: String) -> DiskKind? { node(path)?.kind }

    /// A file's content.
    func content(_ path: String) -> [UInt8]? { node(path).flatMap { $0.kind == .file ? $0.content : nil } }

    /// A file's content as text.
    func text(_ path: String) -> String? { content(path).map { String(decoding: $0, as: UTF8.self) } }

    /// All paths below a folder with their files' contents, nil for folders, ordered by path.
    ///
    /// What is ours at the root is left out unless it is asked for.
    func tree(below folder: String = "", includesPrivate: Bool = false) -> [(path: String, content: [UInt8]?)] {
        guard let start = node(folder) else { return [] }
        var found: [(path: String, content: [UInt8]?)] = []
        var pending = [(path: folder, node: start)]
        while let (path, node) = pending.popLast() {
            for entry in node.entries {
                let inner = LocalPath.join(path, entry.name.text)
                if inner == MirrorDirectory.privateName, !includesPrivate { continue }
                found.append((inner, entry.node.kind == .file ? entry.node.content : nil))
                if entry.node.kind == .folder { pending.append((inner, entry.node)) }
            }
        }
        return found.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    }

    private func location(_ path: String) -> (folder: SimulatedNode, name: EntryName)? {
        var folder = root
        let names = path.utf8.split(separator: UInt8(ascii: "/")).map { EntryName(String(Substring($0))) }
        guard let last = names.last else { return nil }
        for name in names.dropLast() {
            guard let index = folder.index(name, foldsCase: foldsCase), folder.entries[index].node.kind == .folder
            else { return nil }
            folder = folder.entries[index].node
        }
        return (folder, last)
    }

    private func empty(_ node: SimulatedNode) {
        while let last = node.entries.indices.last {
            empty(node.entries[last].node)
            remove(last, from: node)
        }
    }
}
