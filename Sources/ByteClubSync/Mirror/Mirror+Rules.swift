import ByteClubCore
import CLinux
import Glibc

extension Mirror {
    /// Reads the ignore file; when its text has changed, sorts all rows anew and tells that everything is to be scanned.
    ///
    /// A change of the rules is never a deletion: what becomes ignored stays where it is on both sides.
    func loadRules() throws -> Bool {
        let known = try store.meta(.ignoreRules) ?? ""
        guard let text = try ignoreText(), text != known else {
            rules = IgnoreRules(known)
            return false
        }
        rules = IgnoreRules(text)
        var changed: [MirrorRow] = []
        for var row in try store.reading({ try MirrorStore.rows($0, below: .root) }) {
            let isFolder = row.local?.isFolder ?? row.remote?.isFolder ?? row.synced?.isFolder ?? false
            let isExcluded = rules.excludes(row.key, isFolder: isFolder)
            guard isExcluded != row.isExcluded else { continue }
            row.isExcluded = isExcluded
            row.local = nil
            row.synced = nil
            changed.append(row)
        }
        try commit("rules", changed)
        try store.setMeta(.ignoreRules, text)
        return true
    }

    /// The ignore file's text, empty when there is none; nil when it cannot be read now.
    private func ignoreText() throws -> String? {
        guard let files else { return "" }
        do throws(FileError) {
            let file = try files.root.open(IgnoreRules.fileName, O_RDONLY | O_NONBLOCK)
            let status = try file.status()
            guard status.st_mode & S_IFMT == S_IFREG, status.st_size <= 1 << 20 else { return nil }
            var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
            let count = try file.read(into: &bytes, at: 0)
            return String(decoding: bytes.prefix(count), as: UTF8.self)
        } catch {
            return error.isMissing && error.code != ELOOP ? "" : nil
        }
    }
}
