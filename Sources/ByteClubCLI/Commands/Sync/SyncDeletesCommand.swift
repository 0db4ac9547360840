import ArgumentParser
import ByteClubCore

/// The command `byteclub sync deletes …`.
struct SyncDeletesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deletes",
        abstract: "Review, approve or undo held deletions and ignore rules.",
        discussion: """
            Examples:
              byteclub sync deletes review
              byteclub sync deletes approve
              byteclub sync deletes restore ~/club
            """,
        subcommands: [DeletesReviewCommand.self, DeletesApproveCommand.self, DeletesRestoreCommand.self])
}

/// The command `byteclub sync deletes review [DIR]`.
struct DeletesReviewCommand: MirrorRequest {
    static let configuration = CommandConfiguration(
        commandName: "review",
        abstract: "List held deletions, and held ignore rules that would leave out much.",
        discussion: """
            Example:
              byteclub sync deletes review --json
            """)

    @OptionGroup var mirror: MirrorArgument
    @OptionGroup var outputOptions: OutputOptions

    func answer(_ engine: any MirrorEngine.Type, of place: MirrorPlace) throws -> HeldDeletions {
        let status = try engine.status(of: place.configuration)
        return HeldDeletions(directory: place.directory, deletions: status.held, rules: status.heldRules)
    }
}

/// The command `byteclub sync deletes approve [DIR]`.
struct DeletesApproveCommand: MirrorRequest {
    static let configuration = CommandConfiguration(
        commandName: "approve",
        abstract: "Approve what is held; the next sync, or a running one, carries it out.",
        discussion: """
            Files deleted here go to the mirror's trash; the server keeps its deleted files in the history. Entries \
            that new ignore rules exclude stay where they are, on both sides, and are no longer synced. Deletions \
            held later need a new approval.

            Example:
              byteclub sync deletes approve
            """)

    @OptionGroup var mirror: MirrorArgument
    @OptionGroup var outputOptions: OutputOptions

    func answer(_ engine: any MirrorEngine.Type, of place: MirrorPlace) throws -> HeldDeletions {
        let held = try engine.approveDeletions(of: place.configuration)
        let rules = try engine.approveRules(of: place.configuration)
        return HeldDeletions(directory: place.directory, deletions: held, rules: rules, decision: .approved)
    }
}

/// The command `byteclub sync deletes restore [DIR]`.
struct DeletesRestoreCommand: MirrorRequest {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Undo held deletions: restore what was deleted on one side from the other.",
        discussion: """
            The next sync, or a running one, downloads again what was deleted here and uploads again what was deleted \
            on the server. Files deleted on the server before the others were held are restored from its history, up \
            to 10000 entries. If ignore rules are held, their file is restored to its previous content, here and then \
            on the server.

            Example:
              byteclub sync deletes restore
            """)

    @OptionGroup var mirror: MirrorArgument
    @OptionGroup var outputOptions: OutputOptions

    func answer(_ engine: any MirrorEngine.Type, of place: MirrorPlace) throws -> HeldDeletions {
        let held = try engine.restoreDeletions(of: place.configuration)
        let rules = try engine.restoreRules(of: place.configuration)
        return HeldDeletions(directory: place.directory, deletions: held, rules: rules, decision: .restored)
    }
}

/// Deletions and ignore rules that are held, or were until this command.
struct HeldDeletions: CommandResult {
    /// The decision about them.
    enum Decision: String, Codable {
        case none, approved, restored
    }

    var directory: String
    var deletions: [SyncStatus.HeldDeletion]
    var rules: SyncStatus.HeldRules?
    var decision = Decision.none

    func text(_ style: TextStyle) -> String {
        if deletions.isEmpty, rules == nil { return "no held deletions" }
        var lines = ListedLines.first(deletions) { deletion in
            let isHere = deletion.side == "local"
            switch decision {
            case .none:
                return "\(deletion.path): removed \(isHere ? "on the server" : "here"), would be removed "
                    + "\(isHere ? "here" : "on the server"), held since \(style.calendar(deletion.since))"
            case .approved where deletion.isDone == true: return "\(deletion.path): stays removed"
            case .approved: return "\(deletion.path): will be removed \(isHere ? "here" : "on the server")"
            case .restored: return "\(deletion.path): will be \(isHere ? "uploaded" : "downloaded") again"
            }
        }
        let done = deletions.count { $0.isDone == true }
        if done > 0, decision == .restored {
            lines.append("\(deletions.count) will be restored, \(done) of them already removed on the server")
        }
        if let rules { lines.append(".byteclubignore: " + text(rules, style)) }
        return style.lines(lines)
    }

    private func text(_ rules: SyncStatus.HeldRules, _ style: TextStyle) -> String {
        switch decision {
        case .none: "\(rules.text), held since \(style.calendar(rules.since))"
        case .approved: "its new rules will exclude \(rules.entries) of \(rules.synced) synced entries"
        case .restored: "its previous rules are restored"
        }
    }
}
