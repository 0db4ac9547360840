import Glibc
import Synchronization

/// Progress in a terminal's tab or the desktop's task bar: the sequence OSC 9;4 of ConEmu.
///
/// Source: https://conemu.github.io/en/AnsiEscapeCodes.html#ConEmu_specific_OSC
enum TaskbarProgress: Hashable, Sendable {
    /// Nothing.
    case none
    /// So many percent.
    case percent(Int)
    /// That something is under way.
    case busy

    /// Whether a terminal of this process shows progress now.
    static let isShown = Atomic(false)
    /// The number of clearings by signals.
    static let clearings = Atomic(0)

    /// The bytes that tell the terminal.
    var sequence: String {
        switch self {
        case .none: "\u{1B}]9;4;0;0\u{1B}\\"
        case .percent(let percent): "\u{1B}]9;4;1;\(percent)\u{1B}\\"
        case .busy: "\u{1B}]9;4;3;0\u{1B}\\"
        }
    }

    /// Whether a terminal supports the sequence; in others OSC 9 may be a notification.
    static func isKnown(to environment: [String: String]) -> Bool {
        let value = { (name: String) in environment[name] ?? "" }
        let term = value("TERM")
        guard value("NO_COLOR").isEmpty, term != "dumb", value("TMUX").isEmpty, value("STY").isEmpty,
            !term.hasPrefix("tmux"), !term.hasPrefix("screen")
        else { return false }
        if !value("WT_SESSION").isEmpty || value("ConEmuANSI") == "ON" { return true }
        switch value("TERM_PROGRAM") {
        case "ghostty", "WezTerm": return true
        case "iTerm.app": return isAtLeast([3, 6, 6], value("TERM_PROGRAM_VERSION"))
        default: return false
        }
    }

    private static func isAtLeast(_ least: [Int], _ version: String) -> Bool {
        let numbers = version.split(separator: ".").map { Int($0.prefix { $0.isNumber }) ?? 0 }
        for (index, part) in least.enumerated() {
            let number = index < numbers.count ? numbers[index] : 0
            if number != part { return number > part }
        }
        return true
    }

    /// Clears the progress of standard error's terminal, without blocking; safe in a signal handler.
    static func clearAtOnce() {
        guard isShown.load(ordering: .relaxed) else { return }
        clearings.add(1, ordering: .relaxed)
        clear(on: STDERR_FILENO)
    }

    /// Clears a terminal's progress, without blocking; safe in a signal handler.
    static func clear(on terminal: Int32) {
        var polled = pollfd(fd: terminal, events: Int16(POLLOUT), revents: 0)
        guard unsafe poll(&polled, 1, 0) == 1, polled.revents & Int16(POLLOUT) != 0 else { return }
        let sequence: StaticString = "\u{1B}]9;4;0;0\u{1B}\\"
        _ = unsafe write(terminal, sequence.utf8Start, sequence.utf8CodeUnitCount)
    }
}
