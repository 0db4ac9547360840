import ByteClubCore
import Glibc

/// Classifies what an engine that was stopped in the middle has left; whatever else it did, the next scan of both sides
/// tells.
struct Recovery {
    let context: SyncContext
    let control: ControlDirectory
    let installer: Installer
    let copier: ConflictCopier
    let trash: TrashCan

    /// Recovers; `busy` are the items that this engine writes into staging now.
    func run(besides busy: Set<ItemID>, _ report: inout SyncReport) throws {
        let staging = control.staging
        for entry in try staging.list() {
            switch StagedName(entry.name) {
            case .writing(let item) where busy.contains(item): continue
            case .writing where entry.kind == .file: try staging.removeFile(entry.name)
            case .exchanging(let item, let new, let expected) where entry.kind == .file:
                let hash = try Scanner.hash(staging.open(entry.name))
                if hash == new {
                    // It never came into its place, and is fetched again.
                    try staging.removeFile(entry.name)
                } else {
                    try settle(entry.name, item, isKnown: hash == expected, &report)
                }
            case .leaving(let item, let expected) where entry.kind == .file:
                let hash = try Scanner.hash(staging.open(entry.name))
                try settle(entry.name, item, isKnown: expected == nil || hash == expected, &report)
            default: try trash.take(entry.name, from: staging, as: "staging/" + entry.name)
            }
        }
        try staging.sync()
        try copier.recover(&report)
        if installer.isIdle { try installer.recognizeInstalled(&report) }
    }

    /// Trashes a displaced file that was replaced or deleted by intent; an edit that came in between goes back, also
    /// where its folder is gone.
    private func settle(_ name: String, _ id: ItemID, isKnown: Bool, _ report: inout SyncReport) throws {
        let item = try context.store.item(id)
        let place = item?.local?.place ?? item?.synced?.place ?? item?.remote?.place
        let path = try place == nil ? "staging/" + name : context.store.shownPath(of: id)
        guard !isKnown, let place else {
            try trash.take(name, from: control.staging, as: path)
            return
        }
        let home = try trash.home(in: place.parent, &report)
        report.rescans.insert(home.id)
        do throws(FileError) {
            try control.staging.rename(name, to: home.folder, place.name.text, .withoutReplacing)
        } catch {
            guard error.code == EEXIST else { throw error }
            _ = try control.staging.moveBeside(name, place.name.text, in: home.folder)
        }
    }
}
