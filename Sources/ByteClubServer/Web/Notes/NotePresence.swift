import ByteClubCore
import Synchronization

/// The members who have a note open for editing, according to the recent heartbeats of their pages.
///
/// It is a value without a clock; ``NoteEditors`` holds the one of a server.
struct NotePresence {
    /// How long a heartbeat counts, in seconds; pages send one every ten.
    static let lifetime: Int64 = 30
    /// The most members of one note.
    static let mostOfNote = 16
    /// The most members of all notes.
    static let most = 1000

    private struct Beat {
        let note: PathKey
        let member: Int64
        let time: Int64

        /// Whether it counts at a time; one from the future does not, because the clock was set back.
        func isAlive(at now: Int64) -> Bool { time <= now && now - time < NotePresence.lifetime }
    }

    /// The last heartbeat of each member in each note, the oldest first.
    private var beats: [Beat] = []

    /// How many heartbeats are remembered.
    var count: Int { beats.count }

    /// Records a heartbeat; the least recent one is dropped where there are too many.
    mutating func beat(_ member: Int64, in note: PathKey, at now: Int64) {
        beats.removeAll { !$0.isAlive(at: now) || ($0.member == member && $0.note == note) }
        beats.append(Beat(note: note, member: member, time: now))
        if beats.count(where: { $0.note == note }) > Self.mostOfNote,
            let first = beats.firstIndex(where: { $0.note == note })
        {
            beats.remove(at: first)
        }
        if beats.count > Self.most { beats.removeFirst() }
    }

    /// Records that a member has closed the editor of a note.
    mutating func leave(_ member: Int64, _ note: PathKey) {
        beats.removeAll { $0.member == member && $0.note == note }
    }

    /// Forgets a member who was removed.
    mutating func forget(_ member: Int64) {
        beats.removeAll { $0.member == member }
    }

    /// The members in a note besides one, by number.
    func members(in note: PathKey, besides member: Int64, at now: Int64) -> [Int64] {
        beats.filter { $0.note == note && $0.member != member && $0.isAlive(at: now) }.map(\.member).sorted()
    }
}

/// The ``NotePresence`` of a running server, which is in memory only.
final class NoteEditors: Sendable {
    private let presence = Mutex(NotePresence())

    /// Reads or changes it.
    func withPresence<T: Sendable>(_ body: (inout NotePresence) -> T) -> T {
        presence.withLock { body(&$0) }
    }
}
