import ByteClubCore

extension Checkup {
    /// How what is in the mirror stands that was synced last: what is left alone, held or left out by rules.
    func contents() -> [Finding] {
        guard let engine = context.engine, let place = try? MirrorPlace(nil, context),
            LocalFile.isDirectory(place.state)
        else { return [] }
        let status: SyncStatus
        do {
            status = try engine.status(of: place.configuration)
        } catch {
            return [.fail("contents", Failure(error))]
        }
        guard status.isKnown else { return [] }
        return [problems(status), conflicts(status), held(status), rules(status)].compactMap(\.self)
    }

    private func problems(_ status: SyncStatus) -> Finding? {
        guard let first = ProblemGroup.groups(of: status.problems).first else { return nil }
        let all = status.problems.count > first.count ? "\(status.problems.count) entries are skipped; " : ""
        return .warn("problems", Failure.line(all + first.text), "run 'byteclub status'")
    }

    private func conflicts(_ status: SyncStatus) -> Finding? {
        guard let first = status.conflicts.first else { return nil }
        let more = status.conflicts.count > 1 ? ", and \(status.conflicts.count - 1) more" : ""
        let text = Failure.line("\(first.path) is not resolved, \(first.owner) is beside it\(more)")
        return .warn("conflicts", text, "run 'byteclub conflicts'")
    }

    private func held(_ status: SyncStatus) -> Finding? {
        var parts: [String] = []
        if !status.held.isEmpty {
            parts.append("\(status.held.count) deletion\(status.held.count == 1 ? "" : "s") held for your approval")
        }
        if let rules = status.heldRules { parts.append(".byteclubignore: \(rules.text)") }
        if parts.isEmpty { return nil }
        return .warn("held", parts.joined(separator: "; "), "run 'byteclub sync deletes review'")
    }

    private func rules(_ status: SyncStatus) -> Finding {
        .ok("ignored", status.ignored.text ?? "ignore rules exclude nothing")
    }
}
