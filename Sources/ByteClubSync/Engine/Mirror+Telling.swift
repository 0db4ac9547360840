import ByteClubCore

extension Mirror {
    /// Tells what has happened to an item, and keeps it in the log.
    func tell(
        _ kind: SyncEvent.Kind, _ id: ItemID, from: String? = nil, bytes: Int64? = nil, copy: String? = nil,
        message: String? = nil
    ) throws {
        let path = try shownPath(of: id)
        tally.note(SyncEvent(kind, path: path, from: from, bytes: bytes, copy: copy, message: message))
        try log(kind, path, rule: rules(of: id), from.map { "from \($0)" } ?? copy ?? message)
    }

    /// Tells several things, kept in the log by one commit.
    func together(_ body: () throws -> Void) throws { try store.transaction(durably: false, body) }

    /// Keeps an event in the log.
    func log(_ kind: SyncEvent.Kind, _ path: String, rule: String? = nil, _ detail: String? = nil) throws {
        try store.log(LogRecord(at: seconds, path: path, event: kind.rawValue, rule: rule, detail: detail))
    }

    /// The rule that decided about an item in the last plan.
    private func rules(of id: ItemID) -> String? { decided[id]?.rawValue }
}
