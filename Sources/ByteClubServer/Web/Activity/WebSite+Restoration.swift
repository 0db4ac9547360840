import ByteClubCore
import HTTPTypes

/// The pages on which the club goes back to a moment.
extension WebSite {
    /// The steps of one transaction, for which other writers wait.
    private static let batch = 100

    /// The names of the fields that say what is restored.
    private struct Wish {
        let goal: Restoration.Goal

        /// Reads the fields: `at` is a change, or a date by a clock that is `zone` minutes ahead of UTC.
        init(_ visit: Visit, _ store: any ClubStore) async throws {
            let parameters = visit.request.parameters
            let folder = try Self.folder(visit["in"] ?? "")
            let who = try parameters.integer("who", in: 0...Int64.max)
            let text = visit["at"] ?? ""
            var revision = Int64(text).flatMap { $0 >= 0 ? $0 : nil }
            if revision == nil {
                let zone = try parameters.integer("zone", in: -1440...1440) ?? 0
                let whole = text.utf8.count == 16 ? text + ":00Z" : text + "Z"
                guard let date = APIDate(rfc3339: whole) else {
                    throw APIError(400, "This is not a date and a time, as in 2026-11-29T10:55.")
                }
                revision = try await store.read { try $0.revision(at: date.seconds - zone * 60).revision }
            }
            goal = Restoration.Goal(
                revision: revision ?? 0, folder: folder, author: who, keepsNewer: visit["keep"] == "new")
        }

        private static func folder(_ text: String) throws(APIError) -> RemotePath {
            do {
                return try RemotePath(text.hasPrefix("/") ? text : "/" + text)
            } catch {
                throw APIError(400, "There is no such folder.")
            }
        }
    }

    /// Entries in a list of a page.
    private typealias List = (
        icon: String, title: String, note: String?, paths: [String], more: String?, isOpen: Bool
    )

    /// Shows what would be done to have the club as it was.
    func restorationPreview(_ visit: Visit, _ member: Member) async throws -> Response {
        let goal = try await Wish(visit, store).goal
        return try await preview(goal, visit, member)
    }

    private func preview(
        _ goal: Restoration.Goal, _ visit: Visit, _ member: Member, notice: String? = nil
    ) async throws -> Response {
        let (plan, date, _) = try await plan(goal, visit, member)
        let counts = plan.counts
        let members = try await store.members()
        let page = (
            moment: date.map { Moment($0) }, notice: notice, summary: Self.summary(counts, isDone: false),
            isNothing: plan.steps.isEmpty, mayRestore: member.role >= .editor && !plan.steps.isEmpty,
            isViewer: member.role < .editor, at: goal.revision, seen: plan.revision,
            folder: String(goal.folder.string.dropFirst()), who: goal.author, keepsNewer: goal.keepsNewer,
            people: members.map { (uid: $0.uid, name: $0.name, isChosen: $0.uid == goal.author) },
            isScoped: goal.folder != .root || goal.author != nil || goal.keepsNewer, lists: Self.lists(plan)
        )
        return view(.restore, page, visit, notice == nil ? 200 : 409)
    }

    private func plan(
        _ goal: Restoration.Goal, _ visit: Visit, _ member: Member, since seen: Int64 = 0
    ) async throws -> (plan: Restoration, date: APIDate?, isCurrent: Bool) {
        let store = store
        return try await visit.request.inTurn(of: shares.listings, for: .member(member.uid)) {
            try await store.read { folder in
                let plan = try folder.restoration(to: goal)
                let date = try folder.date(ofChangeAfter: goal.revision)
                return (plan, date, try folder.isCurrent(plan, since: seen))
            }
        }
    }

    /// Carries out what the preview showed, as long as nothing of it has changed since.
    func restoreClub(_ visit: Visit, _ member: Member) async throws -> Response {
        guard member.role >= .editor else { throw Self.viewersChangeNothing }
        let goal = try await Wish(visit, store).goal
        guard let seen = try visit.request.parameters.integer("seen", in: 0...Int64.max) else {
            throw APIError(400, "This form is malformed.")
        }
        let (plan, _, isCurrent) = try await plan(goal, visit, member, since: seen)
        guard isCurrent else {
            return try await preview(
                goal, visit, member, notice: "Something has changed since you looked. Look again, and then restore.")
        }
        var done = Restoration.Counts()
        var problem: String?
        do {
            for start in stride(from: 0, to: plan.steps.count, by: Self.batch) {
                let steps = Array(plan.steps[start..<min(start + Self.batch, plan.steps.count)])
                let taken = try await store.write(by: member.uid, storing: []) { folder in
                    try steps.map { step in
                        do { return try folder.take(step) } catch is APIError { return false }
                    }
                }
                for (step, isTaken) in zip(steps, taken) where isTaken { done.add(step) }
            }
        } catch let error as StorageError {
            problem = ServerFault.refusal(for: error).message
        }
        let (rest, date, _) = try await self.plan(goal, visit, member)
        let page = (
            moment: date.map { Moment($0) }, isWhole: rest.steps.isEmpty, summary: Self.summary(done, isDone: true),
            problem: problem, rest: rest.steps.count == 1 ? "1 change is" : "\(rest.steps.count) changes are",
            again: Self.address(goal), isScoped: goal.folder != .root || goal.author != nil || goal.keepsNewer,
            folder: String(goal.folder.string.dropFirst()), undo: seen, seen: rest.revision, who: member.uid,
            mayUndo: rest.revision > seen, isUndo: visit["undo"] != nil
        )
        return view(.restored, page, visit, problem == nil ? 200 : 507)
    }

    /// The address of a preview.
    private static func address(_ goal: Restoration.Goal) -> String {
        let place = goal.folder == .root ? "" : "&in=\(PercentEncoding.encode(goal.folder.string))"
        return "/activity/restore?at=\(goal.revision)" + place + (goal.author.map { "&who=\($0)" } ?? "")
            + (goal.keepsNewer ? "&keep=new" : "")
    }

    /// What is done in words, as in `12 files come back, 3 change back, and 2 are removed`.
    private static func summary(_ counts: Restoration.Counts, isDone: Bool) -> String {
        func files(_ count: Int, _ one: String, _ many: String) -> String? {
            count == 0 ? nil : "\(count) " + (isDone || count > 1 ? many : one)
        }
        var parts = [
            files(counts.broughtBack, "comes back", isDone ? "brought back" : "come back"),
            files(counts.changedBack, "changes back", isDone ? "changed back" : "change back"),
            files(counts.removed, "is removed", isDone ? "removed" : "are removed"),
        ].compactMap { $0 }
        if let first = parts.first, let blank = first.firstIndex(of: " ") {
            let count = first[..<blank]
            parts[0] = "\(count) \(count == "1" ? "file" : "files")\(first[blank...])"
        }
        if counts.folders > 0 {
            let number = counts.folders == 1 ? "1 folder" : "\(counts.folders) folders"
            parts.append(
                isDone ? "\(number) put right" : "\(number) \(counts.folders == 1 ? "is" : "are") put right")
        }
        guard let last = parts.last, parts.count > 1 else { return parts.first ?? "" }
        return parts.dropLast().joined(separator: ", ") + " and " + last
    }

    private static func lists(_ plan: Restoration) -> [List] {
        func list(_ icon: String, _ title: String, _ entries: Restoration.Entries, _ note: String? = nil) -> List? {
            if entries.count == 0 { return nil }
            let rest = entries.count - entries.first.count
            return (
                icon, "\(title): \(entries.count)", note, entries.first.map { String($0.string.dropFirst()) },
                rest > 0 ? "and \(rest) more" : nil, entries.count <= 12
            )
        }
        return [
            list("restore", "Come back", plan.files { if case .bringBack = $0 { true } else { false } }),
            list("history", "Change back", plan.files { if case .changeBack = $0 { true } else { false } }),
            list("trash", "Are removed", plan.files { $0 == .remove }, "They were added or moved there since."),
            list(
                "warning", "Cannot be brought back", plan.forgotten,
                "What they were then is no longer kept. They stay as they are."),
            list("person", "Stay, as others changed them too", plan.others),
            list("add", "Stay, as they were added since", plan.newer),
            list("warning", "Cannot come back", plan.blocked, "Something that stays is in their place."),
        ].compactMap { $0 }
    }
}
