/// Unit files of the user's systemd that are installed and removed together.
struct UserUnits: Sendable {
    /// The folder of the user's units.
    private let folder: String
    /// The units' names in start order.
    private let names: [String]

    /// Names the units.
    init(_ names: [String], _ context: Context) {
        folder = context.directories.userUnits
        self.names = names
    }

    /// Whether any of the files exists.
    var areThere: Bool { names.contains { LocalFile.exists(path($0)) } }

    /// The file of a unit.
    func path(_ name: String) -> String { folder + "/" + name }

    /// Writes the units and starts them, unless they are up to date.
    ///
    /// - Returns: Whether anything was changed.
    /// - Throws: ``Failure``; then nothing was changed.
    func install(_ units: [(name: String, text: String)], _ systemctl: Systemctl) throws -> Bool {
        let before = units.map { (unit: $0, bytes: try? LocalFile.read(path($0.name), limit: 1 << 20)) }
        let isChanged = before.contains { $0.bytes != Array($0.unit.text.utf8) }
        do {
            if isChanged {
                try LocalFile.makeDirectories(folder)
                for unit in units {
                    try LocalFile.replace(path(unit.name), with: Array(unit.text.utf8), mode: 0o644)
                }
                try systemctl(["daemon-reload"])
            }
            try systemctl(["enable", "--now"] + names)
            if isChanged, before.contains(where: { $0.bytes != nil }) { try systemctl(["restart"] + names) }
        } catch {
            if isChanged { undo(before.map { ($0.unit.name, $0.bytes) }, systemctl) }
            throw error
        }
        return isChanged
    }

    /// Stops the units and removes their files.
    func remove(_ systemctl: Systemctl) throws {
        try systemctl(["disable", "--now"] + names)
        for name in names where LocalFile.exists(path(name)) { try LocalFile.remove(path(name)) }
        try systemctl(["daemon-reload"])
    }

    private func undo(_ before: [(name: String, bytes: [UInt8]?)], _ systemctl: Systemctl) {
        if before.allSatisfy({ $0.bytes == nil }) { try? systemctl(["disable", "--now"] + names) }
        for (name, bytes) in before {
            if let bytes {
                try? LocalFile.replace(path(name), with: bytes, mode: 0o644)
            } else {
                try? LocalFile.remove(path(name))
            }
        }
        try? systemctl(["daemon-reload"])
    }
}
