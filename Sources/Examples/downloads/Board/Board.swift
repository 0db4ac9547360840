package import ExampleSupport

/// The state of all downloads: takes events and keys, returns rows and commands; pure.
package struct Board: Sendable {
    /// What a download does.
    package enum State: String, Sendable, CaseIterable {
        case waiting, running, paused, done, failed, cancelled

        /// Whether it may end without another key.
        package var isUnderWay: Bool { self == .waiting || self == .running }
    }

    /// One download.
    package struct Download: Sendable {
        package let url: String
        package let name: String
        /// The file's absolute path.
        package let file: String
        /// The identifier of a download in the background.
        package let id: String?
        /// Whether an earlier program started it.
        package let isMet: Bool
        package fileprivate(set) var state: State
        package fileprivate(set) var bytes: Int64 = 0
        /// The length of the whole; nil while it is unknown.
        package fileprivate(set) var total: Int64?
        package fileprivate(set) var bytesPerSecond: Double = 0
        /// The number of pieces received; nil where the session writes a file.
        package fileprivate(set) var pieces: Int?
        /// The bytes of the last piece.
        package fileprivate(set) var lastPiece = 0
        /// Whether it waits for a network.
        package fileprivate(set) var isOffline = false
        /// The length of the part from which it goes on, 0 where the server sends the whole file again; nil for a
        /// download that was not interrupted.
        package fileprivate(set) var resumedAt: Int64?
        /// Why it failed.
        package fileprivate(set) var failure: Failure?

        package init(
            url: String, name: String, file: String, id: String? = nil, isMet: Bool = false, state: State = .waiting,
            isInPieces: Bool = false
        ) {
            (self.url, self.name, self.file, self.id) = (url, name, file, id)
            (self.isMet, self.state) = (isMet, state)
            pieces = isInPieces ? 0 : nil
        }
    }

    /// What happens to a download, by its place on the board, or at the terminal.
    package enum Event: Sendable {
        case progress(Int, bytes: Int64, total: Int64?, bytesPerSecond: Double)
        case piece(Int, bytes: Int, total: Int64?, bytesPerSecond: Double)
        case became(Int, State, Failure? = nil)
        /// There is no network, and it waits for one.
        case offline(Int)
        /// The server has answered.
        case answered(Int)
        /// It goes on from a part, or from 0 where the server sends the whole file again.
        case resumed(Int, at: Int64, total: Int64?)
        case key(Key)
        /// The program received a signal to end.
        case stop(Failure.Code)

        /// The download's place; nil for the terminal's events.
        package var place: Int? {
            switch self {
            case .progress(let place, _, _, _), .piece(let place, _, _, _), .became(let place, _, _): place
            case .offline(let place), .answered(let place), .resumed(let place, _, _): place
            case .key, .stop: nil
            }
        }
    }

    /// A command for the engine, whose completion an event reports.
    package enum Command: Equatable, Sendable {
        case pause(Int)
        /// Continues a download from its part, or tries again.
        case resume(Int)
        /// Ends a download, and keeps the bytes received where that is possible.
        case cancel(Int)
        /// The last command: end the program.
        case leave
    }

    package private(set) var downloads: [Download]
    package private(set) var selected = 0
    /// Whether a user can press keys: only then does a board with an unfinished download wait.
    package let isAttended: Bool
    private var hasLeft = false
    /// The exit code of the signal that ended the program, if one did.
    private(set) var stopped: Failure.Code?

    package init(_ downloads: [Download], isAttended: Bool) {
        self.downloads = downloads
        self.isAttended = isAttended
    }

    /// Handles an event, and returns the commands that follow from it.
    package mutating func handle(_ event: Event) -> [Command] {
        switch event {
        case .progress(let place, let bytes, let total, let rate): note(place, bytes: bytes, total, rate)
        case .piece(let place, let count, let total, let rate):
            guard downloads.indices.contains(place), !downloads[place].state.isEnd else { return [] }
            downloads[place].pieces = (downloads[place].pieces ?? 0) + 1
            downloads[place].lastPiece = count
            note(place, bytes: downloads[place].bytes &+ Int64(count), total, rate)
        case .became(let place, let state, let failure): become(place, state, failure)
        case .offline(let place): setOffline(place, true)
        case .answered(let place): setOffline(place, false)
        case .resumed(let place, let offset, let total): goOn(place, at: offset, total)
        case .key(let key): return press(key)
        case .stop(let code):
            stopped = stopped ?? code
            return leave()
        }
        return isOver ? leave() : []
    }

    /// Records counters; counters that arrive after an end are outdated.
    private mutating func note(_ place: Int, bytes: Int64, _ total: Int64?, _ rate: Double) {
        guard downloads.indices.contains(place), !downloads[place].state.isEnd else { return }
        // The daemon reports the state of a background download itself.
        if downloads[place].state == .waiting, downloads[place].id == nil, !downloads[place].isOffline,
            bytes > downloads[place].bytes
        {
            downloads[place].state = .running
        }
        (downloads[place].bytes, downloads[place].total) = (max(bytes, 0), total)
        downloads[place].bytesPerSecond = downloads[place].state == .running ? rate : 0
    }

    private mutating func become(_ place: Int, _ state: State, _ failure: Failure?) {
        guard downloads.indices.contains(place), downloads[place].state != .done else { return }
        if downloads[place].state.isEnd, !state.isEnd, downloads[place].pieces != nil {
            // Pieces are not kept: the download begins with the first again.
            (downloads[place].pieces, downloads[place].bytes) = (0, 0)
        }
        downloads[place].state = state
        downloads[place].failure = state == .failed ? failure : nil
        if state.isEnd { downloads[place].isOffline = false }
        if state != .running { (downloads[place].bytesPerSecond, downloads[place].resumedAt) = (0, nil) }
    }

    /// Records whether a download waits for a network; a paused one stays paused.
    private mutating func setOffline(_ place: Int, _ isOffline: Bool) {
        guard downloads.indices.contains(place), !downloads[place].state.isEnd else { return }
        downloads[place].isOffline = isOffline
        guard isOffline, downloads[place].state == .running else { return }
        downloads[place].state = .waiting
        (downloads[place].bytesPerSecond, downloads[place].resumedAt) = (0, nil)
    }

    private mutating func goOn(_ place: Int, at offset: Int64, _ total: Int64?) {
        guard downloads.indices.contains(place), downloads[place].state.isUnderWay else { return }
        (downloads[place].state, downloads[place].isOffline) = (.running, false)
        downloads[place].resumedAt = max(offset, 0)
        // The counters may be ahead of this event.
        downloads[place].bytes = max(downloads[place].bytes, offset)
        if let total { downloads[place].total = total }
    }

    private mutating func press(_ key: Key) -> [Command] {
        guard !hasLeft else { return [] }
        switch key {
        case .up: selected = max(selected - 1, 0)
        case .down: selected = min(selected + 1, max(downloads.count - 1, 0))
        case .interrupt: return handle(.stop(.interrupted))
        case .end, .text("q"): return leave()
        case .text(let character):
            if let number = character.wholeNumberValue, character.isASCII {
                if downloads.indices.contains(number - 1) { selected = number - 1 }
                return []
            }
            return command(character).map { [$0] } ?? []
        case .enter, .backspace, .redraw: break
        }
        return []
    }

    /// The command of a letter for the selected download; nil where the download's state has none.
    private func command(_ letter: Character) -> Command? {
        guard downloads.indices.contains(selected) else { return nil }
        let state = downloads[selected].state
        switch letter {
        case "p" where state.isUnderWay: return .pause(selected)
        case "r" where state == .paused || state == .failed || state == .cancelled: return .resume(selected)
        case "c" where state.isUnderWay || state == .paused: return .cancel(selected)
        default: return nil
        }
    }

    private mutating func leave() -> [Command] {
        defer { hasLeft = true }
        return hasLeft ? [] : [.leave]
    }

    /// Whether no event can follow: all files are complete, or, without keys, no download is under way.
    private var isOver: Bool {
        downloads.allSatisfy { $0.state == .done || (!isAttended && !$0.state.isUnderWay) }
    }
}

extension Board.Download {
    /// What a line reports when it changes.
    package struct Standing: Equatable, Sendable {
        var state: Board.State
        var isOffline: Bool
        var resumedAt: Int64?
    }

    package var standing: Standing { Standing(state: state, isOffline: isOffline, resumedAt: resumedAt) }
}

extension Board.State {
    /// Whether counters that arrive now are outdated.
    var isEnd: Bool { self == .done || self == .failed || self == .cancelled }
}
