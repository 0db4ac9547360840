/// Which requests are under way, what each rests on, and what of that is to be looked at.
///
/// It is pure; ``OpenRequests`` asks the store and ends the requests. What a request rests on is looked at once after
/// the request began, because whoever let it in may have answered from memory, and again after each change of accounts.
struct StandingTable<Request: Hashable> {
    private struct Entry {
        let standing: Standing
        /// The version of the accounts at which it was last found to let people in; nil before the first look.
        var seen: Int64?
    }

    private var entries: [Request: Entry] = [:]

    /// Whether no request is under way.
    var isEmpty: Bool { entries.isEmpty }

    /// Notes what a request rests on; what it rested on before counts no more.
    mutating func begin(_ request: Request, on standing: Standing) { entries[request] = Entry(standing: standing) }

    /// Forgets a request, whether it is known or not.
    mutating func end(_ request: Request) { entries[request] = nil }

    /// What is to be looked at when the accounts are at a version.
    func due(at version: Int64) -> Set<Standing> {
        Set(entries.values.lazy.filter { $0.seen != version }.map(\.standing))
    }

    /// Takes what a look has found, and forgets the requests that it ends.
    ///
    /// - Parameters:
    ///   - looked: What was looked at, after the version was read.
    ///   - lapsed: What of it lets nobody in any more.
    ///   - version: The version of the accounts that was read before.
    /// - Returns: The requests to end.
    mutating func settle(_ looked: Set<Standing>, lapsed: Set<Standing>, at version: Int64) -> [Request] {
        var ended: [Request] = []
        for (request, entry) in entries where looked.contains(entry.standing) {
            if lapsed.contains(entry.standing) {
                ended.append(request)
                entries[request] = nil
            } else {
                entries[request]?.seen = version
            }
        }
        return ended
    }
}
