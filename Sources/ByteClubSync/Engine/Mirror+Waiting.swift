extension Mirror {
    /// Keeps what waits or travels though nothing is wrong with it.
    func noteWaiting() throws {
        var waiting = Waiting()
        for item in queued { waiting.items[item] = .queued }
        for item in scheduled { waiting.items[item] = .scheduled }
        let now = surroundings.uptime()
        let refused = Set(try store.problems().compactMap(\.item))
        for (item, later) in busy where later.until > now && !refused.contains(item) {
            waiting.items[item] = .written(until: seconds + (later.until - now).components.seconds)
        }
        for item in transfers.keys { waiting.items[item] = .underWay(bytes: travelled[item] ?? 0) }
        if try store.meta(.waiting) != waiting.text { try store.setMeta(.waiting, waiting.text) }
    }

    /// Keeps how many bytes of a large file have travelled.
    func note(_ item: ItemID, travelled bytes: Int64) {
        if transfers[item] == nil { return }
        travelled[item] = bytes
        // Nobody waits for it: whoever asks next is told less.
        try? noteWaiting()
    }
}
