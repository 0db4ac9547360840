import ByteClubCore

extension Mirror {
    /// All problems, by path.
    var allProblems: [Problem] { problems.values.joined().sorted { $0.path < $1.path } }

    /// Replaces what scanning found wrong in a folder.
    func replaceProblems(_ found: [Problem], in parent: PathKey) throws {
        let old = problems[parent] ?? []
        if old.isEmpty, found.isEmpty { return }
        try setProblems(found + old.filter { $0.source == .transfer }, in: parent)
    }

    /// Adds a problem, in place of an older one at its path.
    func addProblem(_ problem: Problem, in parent: PathKey) throws {
        try setProblems((problems[parent] ?? []).filter { $0.path != problem.path } + [problem], in: parent)
    }

    /// Forgets a problem at a path.
    func dropProblem(of path: String, in parent: PathKey) throws {
        guard let old = problems[parent], old.contains(where: { $0.path == path }) else { return }
        try setProblems(old.filter { $0.path != path }, in: parent)
    }

    /// Forgets what went wrong with transfers, so that each is tried again.
    func forgetTransferProblems() throws {
        for (parent, old) in problems where old.contains(where: { $0.source == .transfer }) {
            try setProblems(old.filter { $0.source != .transfer }, in: parent)
        }
    }

    private func setProblems(_ new: [Problem], in parent: PathKey) throws {
        let old = problems[parent] ?? []
        if Set(old) == Set(new) { return }
        try store.transaction { try MirrorStore.setProblems($0, new, in: parent) }
        problems[parent] = new.isEmpty ? nil : new
        frozen = Set(problems.values.joined().compactMap(\.key))
    }

    /// Whether an entry is left alone, for itself or for a folder above it.
    func isFrozen(_ key: PathKey) -> Bool {
        !frozen.isEmpty && key.selfAndAncestors.contains { frozen.contains($0) }
    }
}
