import Glibc

/// The temporary files that a daemon left in the folders of downloads when it was killed, and that nothing continues.
///
/// They bear their task's ID: those of a download without a validator are in no journal.
struct LeftParts: Sendable {
    private let folder: TaskFolder
    /// The unfinished downloads, by the folders that their files are to be in.
    private var tasks: [String: Set<BackgroundTask.ID>] = [:]

    /// Looks for what the tasks left, none of which may be under way.
    init(of tasks: [BackgroundStatus], _ folder: TaskFolder) {
        self.folder = folder
        for task in tasks where task.state != .done {
            guard case .download(_, let path) = task.request.work, let slash = path.lastIndex(of: "/") else { continue }
            self.tasks[String(path[...slash]), default: []].insert(task.id)
        }
    }

    var isEmpty: Bool { tasks.isEmpty }

    /// The ``TaskOptions/partTag`` of a task.
    static func tag(of id: BackgroundTask.ID) -> String { "\(id)-" }

    /// Removes them; blocks.
    func remove() {
        for (place, ids) in tasks {
            for name in folderNames(place) ?? [] {
                guard let id = Self.id(in: name), ids.contains(id) else { continue }
                let path = place + name
                if DownloadJournal(folder, id).load()?.temporaryFile != path { unsafe unlink(path) }
            }
        }
    }

    /// Whose temporary file it is.
    private static func id(in name: String) -> BackgroundTask.ID? {
        guard name.hasPrefix(ResumeRecord.prefix), name.hasSuffix(ResumeRecord.suffix) else { return nil }
        let parts = name.dropFirst(ResumeRecord.prefix.count).split(separator: "-", omittingEmptySubsequences: false)
        return parts.count == 2 ? BackgroundTask.ID(String(parts[0])) : nil
    }
}
