import ByteClubCore

/// The events of a sync as lines for people.
enum EventLine {
    /// One line for people; nil for events that are not shown.
    static func text(_ event: SyncEvent, _ style: TextStyle) -> String? {
        let path = event.path ?? ""
        if let verb = verb(of: event.event) { return verb.line(verb.done, event.event, from: event.from ?? "", path) }
        switch event.event {
        case .conflict:
            let why = event.message.map { "; \($0)" } ?? ""
            return "conflict in \(path): this machine's text is in \(event.copy ?? "a copy beside it")\(why)"
        case .problem:
            let next = event.until == nil ? "" : "; retrying"
            return (path.isEmpty ? "" : "\(path): ") + (event.message ?? "skipped") + next
        case .paused where event.cause == .metered: return "paused: the network is metered"
        case .paused:
            return "paused \(event.until.map { "until \(style.calendar($0)) or" } ?? "until") 'byteclub sync resume'"
        case .held:
            return
                "\(path.isEmpty ? "deletions" : path): \(event.message ?? "a deletion is held; see --force-deletes")"
        case .summary: return event.summary.map(text)
        default: return nil
        }
    }

    /// What a sync does to an entry, and on which side.
    private struct Verb {
        var done: String
        var toDo: String
        var side = ""

        func line(_ verb: String, _ kind: SyncEvent.Kind, from origin: String, _ path: String) -> String {
            switch kind {
            case .makeLocalFolder, .makeRemoteFolder: "\(verb) \(path)/\(side)"
            case .moveLocal, .moveRemote: "\(verb) \(origin) to \(path)\(side)"
            default: "\(verb) \(path)\(side)"
            }
        }
    }

    /// The verb of an event that changes an entry; nil for other events.
    private static func verb(of kind: SyncEvent.Kind) -> Verb? {
        switch kind {
        case .download: Verb(done: "downloaded", toDo: "download")
        case .upload: Verb(done: "uploaded", toDo: "upload")
        case .deleteLocal: Verb(done: "removed", toDo: "remove", side: " here")
        case .deleteRemote: Verb(done: "removed", toDo: "remove", side: " on the server")
        case .makeLocalFolder: Verb(done: "created", toDo: "create", side: " here")
        case .makeRemoteFolder: Verb(done: "created", toDo: "create", side: " on the server")
        case .moveLocal: Verb(done: "moved", toDo: "move", side: " here")
        case .moveRemote: Verb(done: "moved", toDo: "move", side: " on the server")
        case .merge: Verb(done: "merged", toDo: "merge")
        case .conflict, .problem, .held, .progress, .paused, .idle, .summary: nil
        }
    }

    /// The name of an event in a log, in the words of the lines above.
    static func words(_ event: String) -> String {
        SyncEvent.Kind(rawValue: event).flatMap(verb).map { $0.done + $0.side } ?? event
    }

    /// One line for people about a planned step.
    static func plan(_ step: PlannedStep) -> String {
        let shown = Failure.line(step.path)
        if step.event == .held { return "would hold the removal of \(shown): too many deletions at once" }
        // Whether texts can be merged shows only when it is done.
        guard step.event != .merge, let verb = verb(of: step.event) else {
            return "would keep both sides of \(shown), this machine's as \(Failure.line(step.copy ?? ""))"
        }
        return verb.line("would \(verb.toDo)", step.event, from: Failure.line(step.from ?? ""), shown)
    }

    /// A summary's line.
    static func text(_ summary: SyncSummary) -> String {
        let counts = [
            (summary.uploaded, "uploaded"), (summary.downloaded, "downloaded"),
            (summary.deletedLocal, "removed here"), (summary.deletedRemote, "removed on the server"),
            (summary.movedLocal, "moved here"), (summary.movedRemote, "moved on the server"),
            (summary.merged, "merged"), (summary.conflicts, summary.conflicts == 1 ? "conflict" : "conflicts"),
            (summary.held, summary.held == 1 ? "deletion held" : "deletions held"),
        ]
        var parts = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        if summary.heldByRules > 0 { parts.append("new ignore rules held") }
        if summary.problems > 0 { parts.append("\(summary.problems) skipped") }
        let done = parts.isEmpty ? "nothing to do" : parts.joined(separator: ", ")
        let ignored = summary.ignored.text.map { "; \($0)" } ?? ""
        return (summary.isComplete ? "in sync: " : "not in sync yet: ") + done + ignored
    }
}

extension SyncStatus.Ignored {
    /// The number of excluded entries, for people; nil when there are none.
    var text: String? {
        let parts = [(disk, "here"), (server, "on the server")].filter { $0.0 > 0 }
            .map { "\($0.0) \($0.0 == 1 ? "entry" : "entries") \($0.1)" }
        return parts.isEmpty ? nil : "ignore rules exclude " + parts.joined(separator: " and ")
    }
}

extension SyncStatus.HeldRules {
    /// The effect of the held rules, for people.
    var text: String { "its new rules would exclude \(entries) of \(synced) synced entries" }
}

/// An event of a sync as JSON, with its time among its fields.
struct DatedSyncEvent: Encodable, Sendable {
    var event: SyncEvent
    /// As RFC 3339 in UTC.
    var time: String

    private enum CodingKeys: String, CodingKey { case time }

    func encode(to encoder: any Encoder) throws {
        try event.encode(to: encoder)
        var box = encoder.container(keyedBy: CodingKeys.self)
        try box.encode(time, forKey: .time)
    }
}

/// A planned step of a sync.
struct PlannedStep: Encodable, Hashable, Sendable {
    /// The event that the step would be.
    var event: SyncEvent.Kind
    /// The path relative to the mirror's root.
    var path: String
    /// The old path of a move.
    var from: String?
    /// The name for the local side of a conflict.
    var copy: String?
    /// Always true: nothing was done.
    var planned = true

    /// Converts an event.
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
    /// The number of deletions that it would hold; nil for none.
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
