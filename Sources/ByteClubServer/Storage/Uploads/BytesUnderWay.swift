import Synchronization

/// The bytes of contents that are on their way to the disk, by the member who sends them.
///
/// What has arrived is counted where it is stored. So nothing is to be put right after a crash.
final class BytesUnderWay: Sendable {
    /// Bytes that count until the last reference to this goes.
    final class Hold: RoomHold {
        /// What the member has under way, this included.
        let ofMember: Int64
        /// What everybody has under way, this included, but of each member no more than one may store.
        let ofAll: Int64
        private let owner: BytesUnderWay
        private let bytes: Int64
        private let member: Int64

        fileprivate init(_ owner: BytesUnderWay, _ bytes: Int64, of member: Int64, _ ofMember: Int64, _ ofAll: Int64) {
            (self.owner, self.bytes, self.member) = (owner, bytes, member)
            (self.ofMember, self.ofAll) = (ofMember, ofAll)
        }

        deinit { owner.end(bytes, of: member) }
    }

    /// More than any disk holds, so that no sum of announced lengths overflows.
    private static let maximumBytes: Int64 = 1 << 45

    private let state = Mutex<[Int64: Int64]>([:])

    /// Counts bytes that a member has announced.
    ///
    /// What is more than the member's quota is refused to the member a moment later, so it takes no room from others.
    func hold(_ bytes: Int64, of member: Int64, quota: Int64?) -> Hold {
        let bytes = min(max(bytes, 0), Self.maximumBytes)
        let (ofMember, ofAll) = state.withLock { state in
            state[member, default: 0] += bytes
            return (state[member, default: 0], state.values.reduce(0) { $0 + min($1, quota ?? $1) })
        }
        return Hold(self, bytes, of: member, ofMember, ofAll)
    }

    private func end(_ bytes: Int64, of member: Int64) {
        state.withLock { state in
            let left = state[member, default: 0] - bytes
            state[member] = left == 0 ? nil : left
        }
    }
}
