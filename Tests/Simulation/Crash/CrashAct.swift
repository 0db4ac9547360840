import ByteClubCore

@testable import ByteClubSync

/// One thing that a member does, or that befalls a member's machine.
enum CrashAct: Hashable, Sendable {
    /// Writes a file in place, making it and the folders above it.
    case write(String, String)
    /// Saves as careful editors do: into another file, which then takes the name.
    case save(String, String)
    /// Saves as editors do that keep the old file as `name~`.
    case saveWithBackup(String, String)
    case move(String, to: String)
    /// Lets entries change their names in a ring: each takes the next one's, the last the first one's.
    case rotate([String])
    case delete(String)
    case folder(String)
    /// Gives a file a second name.
    case link(String, to: String)
    /// Loses the database, as with a disk that was replaced.
    case loseDatabase
    /// Leaves a folder out on this machine.
    case deselect(String)

    /// Does it; false when it makes no sense.
    func perform(on machine: SimulatedMachine) -> Bool {
        let disk = machine.disk
        switch self {
        case .write(let path, let text):
            makeFolders(above: path, disk)
            return disk.write(path, text)
        case .save(let path, let text): return disk.save(path, text)
        case .saveWithBackup(let path, let text): return disk.save(path, text, keepsBackup: true)
        case .move(let path, let target):
            makeFolders(above: target, disk)
            return disk.move(path, to: target)
        case .rotate(let paths):
            guard let last = paths.last, disk.move(last, to: "aside") else { return false }
            for (path, target) in zip(paths, paths.dropFirst()).reversed() {
                if !disk.move(path, to: target) { return false }
            }
            return paths.first.map { disk.move("aside", to: $0) } ?? false
        case .delete(let path): return disk.delete(path)
        case .folder(let path): return disk.makeFolder(path)
        case .link(let path, let target): return disk.link(path, to: target)
        case .loseDatabase:
            machine.database.clear()
            return true
        case .deselect(let path):
            guard var selection = try? Selection(machine.database) else { return false }
            selection.leaveOut(PathKey(folded: "/" + path))
            let wanted = selection
            let done: Void? = try? machine.database.transaction(durably: true) {
                try wanted.save(in: machine.database)
            }
            return done != nil
        }
    }

    private func makeFolders(above path: String, _ disk: SimulatedDisk) {
        let parent = LocalPath.split(path).parent
        if parent.isEmpty || disk.node(parent) != nil { return }
        makeFolders(above: parent, disk)
        disk.makeFolder(parent)
    }
}
