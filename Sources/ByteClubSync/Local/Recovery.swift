import ByteClubCore
import Glibc

extension LocalReplica {
    /// Classifies what a crash has left in staging; everything else is found by the next scan and pull.
    ///
    /// `busy` are the items that this engine is writing to staging now.
    ///
    /// - Throws: ``FileError`` when staging cannot be read, and the store's errors.
    func recover(besides busy: Set<ItemID>, _ report: inout SyncReport) throws {
        let staging = control.staging
        let left = try staging.list()
        for entry in left {
            switch StagedName(entry.name) {
            case .writing(let item) where busy.contains(item): continue
            case .downloading(let item, _) where busy.contains(item): continue
            case .uploading(let item) where busy.contains(item): continue
            case .writing(let item) where entry.kind == .file: try staged.putBack(entry.name, of: item)
            case .downloading(let item, let hash) where entry.kind == .folder: try staged.judge(item, hash)
            case .uploading(let item) where entry.kind == .file: try staged.judgeUpload(of: item)
            case .exchanging(let item, let new, let expected) where entry.kind == .file:
                let hash = try Scanner.hash(staging.open(entry.name))
                if hash == new {
                    // It was never installed.
                    try staged.putBack(entry.name, of: item)
                } else {
                    try settle(entry.name, item, isKnown: hash == expected, &report)
                }
            case .trashing(let item, let expected) where entry.kind == .file:
                let hash = try Scanner.hash(staging.open(entry.name))
                try settle(entry.name, item, isKnown: expected == nil || hash == expected, &report)
            // As earlier versions have left them of their downloads.
            case nil where entry.name.hasPrefix(".byteclub-") && entry.name.hasSuffix(".part"):
                try staging.removeFile(entry.name)
            default: try trash.take(entry.name, from: staging, as: "staging/" + entry.name)
            }
        }
        // What a crash has moved out of staging is recorded only when that is durable.
        if try !left.isEmpty || !context.store.records(PendingInstall.self).isEmpty
            || !context.store.records(PendingConflictCopy.self).isEmpty
        {
            try staging.sync()
        }
        try installer.recoverConflictCopy(&report)
        if installer.isIdle { try installer.recognizeInstalled(&report) }
    }

    /// Trashes a displaced file that was replaced or deleted on purpose; an edit made in between is moved back, even
    /// when its folder no longer exists.
    private func settle(_ name: String, _ id: ItemID, isKnown: Bool, _ report: inout SyncReport) throws {
        let item = try context.store.item(id)
        let location = item?.local?.location ?? item?.synced?.location ?? item?.remote?.location
        let path = try location == nil ? "staging/" + name : context.store.shownPath(of: id)
        guard !isKnown, let location else {
            try trash.take(name, from: control.staging, as: path)
            return
        }
        let home = try trash.home(in: location.parent, &report)
        report.rescans.insert(home.id)
        do throws(FileError) {
            try control.staging.rename(name, to: home.folder, location.name.text, .withoutReplacing)
        } catch {
            guard error.code == EEXIST else { throw error }
            _ = try control.staging.moveBeside(name, location.name.text, in: home.folder, context.naming)
        }
    }
}
