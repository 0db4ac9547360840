import ByteClubFiles
import Glibc

/// The folder of a program's background transfers, and the command that starts their daemon.
///
/// The folder holds all records, the lock and the socket, so programs that name the same folder use the same daemon: one
/// for each user and program.
public struct BackgroundService: Sendable, Hashable {
    /// The folder's absolute path; the folder belongs to the user alone (mode 0700) and is created if necessary.
    public var folder: String

    /// The absolute path of the daemon's program, and its arguments.
    ///
    /// The program calls ``BackgroundDaemon/run()`` with the same folder. It is started, detached from the terminal and with
    /// `/` as its working directory, when it is needed and no daemon runs.
    public var command: [String]

    /// A service in the given folder.
    ///
    /// - Parameters:
    ///   - folder: See ``folder``.
    ///   - command: See ``command``.
    public init(folder: String, command: [String]) {
        self.folder = folder
        self.command = command
    }

    /// The service of a program in the user's state folder (XDG base directory specification).
    ///
    /// The folder is `$XDG_STATE_HOME/NAME/transfers`, or `~/.local/state/NAME/transfers` without the variable.
    ///
    /// - Parameters:
    ///   - name: The name of the program's folder.
    ///   - command: See ``command``.
    /// - Throws: ``TransferError/Code/badConfiguration`` when the name is invalid, or HOME is missing.
    public init(name: String, command: [String]) throws(TransferError) {
        guard !name.isEmpty, name != ".", name != "..", !name.utf8.contains(where: { $0 == 0x2F || $0 == 0 }) else {
            throw TransferError(.badConfiguration, "'\(name)' is not a valid folder name for background transfers")
        }
        func variable(_ name: String) -> String? {
            guard let value = unsafe getenv(name) else { return nil }
            let text = unsafe String(cString: value)
            return text.hasPrefix("/") ? text : nil
        }
        guard let base = variable("XDG_STATE_HOME") ?? variable("HOME").map({ $0 + "/.local/state" }) else {
            throw TransferError(.badConfiguration, "neither HOME nor XDG_STATE_HOME names an absolute folder")
        }
        self.init(folder: "\(base)/\(name)/transfers", command: command)
    }

    /// Whether the folder has recorded tasks; false if it cannot be read, and blocks.
    public var hasTasks: Bool {
        (try? FolderNames(folder))?.contains { $0.hasSuffix(".\(TaskFolder.Part.task)") } ?? false
    }

    /// The daemon's socket, for a unit of systemd that listens to it.
    public var socketPath: String { folder + "/daemon.sock" }
    /// The rate limits on disk, whether a daemon runs or not; without limits if none were set.
    ///
    /// Each access reads the file, which blocks for a moment.
    public var recordedSchedule: RateSchedule { TaskFolder.schedule(in: folder) }
    /// The file that a running daemon locks.
    var lockPath: String { folder + "/daemon.lock" }

    /// The error for a daemon that does not answer.
    var silence: TransferError {
        guard let process = DaemonLock.holder(lockPath) else {
            return TransferError(.daemonUnavailable, "the daemon in \(folder) does not start")
        }
        return TransferError(
            .daemonUnavailable,
            "the daemon in \(folder) (process \(process)) does not answer; stop it with 'kill -9 \(process)'")
    }
}
