import ByteClubCore

/// One step of a sync that was only asked for.
struct PlannedStep: Encodable, Hashable, Sendable {
    /// The event that the step would be.
    var event: SyncEvent.Kind
    /// The entry's path relative to the mirror's root.
    var path: String
    /// Where it would be moved from.
    var from: String?
    /// Where this machine's side of a conflict would go.
    var copy: String?
    /// Always true: nothing was done.
    var planned = true

    /// Describes a step by the event that it would be.
    init(_ event: SyncEvent) {
        self.event = event.event
        path = event.path ?? ""
        from = event.from
        copy = event.copy
    }
}

/// The last line of a dry run in JSON.
struct PlannedSummary: Encodable, Sendable {
    var event = "summary"
    /// How many steps a sync would take.
    var planned: Int
    /// How many deletions it would hold; nil when that is none.
    var held: Int?

    /// Counts steps.
    init(_ steps: [PlannedStep]) {
        let held = steps.count { $0.event == .held }
        planned = steps.count - held
        self.held = held > 0 ? held : nil
    }

    /// One line for people.
    var text: String {
        var parts: [String] = []
        if planned > 0 { parts.append("\(planned) \(planned == 1 ? "change" : "changes") to make") }
        if let held { parts.append("\(held) \(held == 1 ? "deletion" : "deletions") to hold") }
        return parts.isEmpty ? "nothing to do" : parts.joined(separator: ", ")
    }
}
