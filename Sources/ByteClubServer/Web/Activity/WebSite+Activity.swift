import ByteClubCore

/// The page that tells who did what.
extension WebSite {
    /// The changes of one page.
    private static let pageOfChanges = 300

    private typealias Choice = (name: String, url: String, isChosen: Bool)

    /// The kinds of changes to choose from.
    private static let kinds: [(name: String, action: HistoryChange.Action)] = [
        ("Added", .added), ("Changed", .edited), ("Moved", .moved), ("Deleted", .removed), ("Restored", .restored),
    ]

    /// Shows what members did, the newest first.
    func activity(_ visit: Visit, _ member: Member) async throws -> Response {
        let before = try visit.request.parameters.integer("before", in: 1...Int64.max)
        let who = try visit.request.parameters.integer("who", in: 0...Int64.max)
        let action = visit["what"].flatMap { HistoryChange.Action(rawValue: $0) }
        if action == nil, visit["what"] != nil { throw APIError(404, "Page not found.") }
        let store = store
        let (lines, older) = try await visit.request.inTurn(of: shares.listings, for: .member(member.uid)) {
            try await store.read { folder in
                let page = try folder.history(
                    before: before, after: 0, limit: Self.pageOfChanges, by: who,
                    where: { action == nil || $0.action == action })
                let groups = ActivityGroup.groups(of: page.changes)
                return (try groups.map { try ActivityLine($0, in: folder) }, page.before)
            }
        }
        let members = try await store.members()
        func address(_ action: HistoryChange.Action?, before: Int64? = nil) -> String {
            let fields =
                [action.map { "what=\($0.rawValue)" }, who.map { "who=\($0)" }, before.map { "before=\($0)" }]
                .compactMap { $0 }
            return "/activity" + (fields.isEmpty ? "" : "?" + fields.joined(separator: "&"))
        }
        var days: [(day: String, lines: [ActivityLine])] = []
        for line in lines {
            if days.last?.day != line.moment.day { days.append((line.moment.day, [])) }
            days[days.count - 1].lines.append(line)
        }
        let choices =
            [("All", address(nil), action == nil)]
            + Self.kinds.map { ($0.name, address($0.action), $0.action == action) }
        let page = (
            days: days, isEmpty: days.isEmpty, isFiltered: action != nil || who != nil, hasOlder: older != nil,
            choices: choices.map { (name: $0.0, url: $0.1, isChosen: $0.2) as Choice }, what: action?.rawValue,
            people: members.map { (uid: $0.uid, name: $0.name, isChosen: $0.uid == who) },
            isMembers: who != nil, mayRestore: member.role >= .editor,
            anHourAgo: Self.fieldText(APIDate(seconds: settings.now() - 3600)),
            newest: before == nil ? nil : address(action), older: older.map { address(action, before: $0) }
        )
        return view(.activity, page, visit, policy: Self.picturePolicy)
    }

    /// A date as a field of a form has it, as in `2026-11-29T10:55`.
    static func fieldText(_ date: APIDate) -> String { String(date.rfc3339.prefix(16)) }
}
