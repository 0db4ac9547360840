import ByteClubCore

/// How far the slow audit is, and which files it has found to hold other bytes than were synced.
struct AuditProgress: Hashable, Sendable {
    /// A file whose bytes have changed though nothing tells that it was written to.
    struct Finding: Hashable, Sendable {
        let item: ItemID
        /// How the file looked when it was read.
        let handle: FileHandle
        let modified: Int64
        /// Under which path people were told of it.
        var path: String
    }

    /// The last item that was read.
    var last: ItemID?
    /// What it has found, in the order of the items.
    private(set) var findings: [Finding] = []

    init() {}

    /// Reads what ``text`` gave; what makes no sense is left out.
    init(_ text: String?) {
        for line in (text ?? "").split(separator: "\n") {
            let parts = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: false)
            if parts.count == 2, parts[0] == "last", let number = Int64(parts[1]) { last = ItemID(number) }
            guard parts.count == 6, parts[0] == "found", let number = Int64(parts[1]), let high = UInt64(parts[2]),
                let low = UInt64(parts[3]), let modified = Int64(parts[4])
            else { continue }
            let handle = FileHandle(high: high, low: low)
            findings.append(
                Finding(item: ItemID(number), handle: handle, modified: modified, path: String(parts[5])))
        }
    }

    /// The progress as a value of ``MetaKey/audit``.
    var text: String {
        let lines = findings.map {
            "found \($0.item.number) \($0.handle.high) \($0.handle.low) \($0.modified) \($0.path)"
        }
        return ((last.map { ["last \($0.number)"] } ?? []) + lines).joined(separator: "\n")
    }

    /// Notes what was found of an item, or that nothing was; the finding that it replaces is the result.
    @discardableResult
    mutating func set(_ finding: Finding?, of item: ItemID) -> Finding? {
        let old = findings.firstIndex { $0.item == item }.map { findings.remove(at: $0) }
        if let finding {
            findings.append(finding)
            findings.sort { $0.item < $1.item }
        }
        return old
    }
}
