import Glibc

/// Where the daemon of a program's background transfers keeps them, and how it is started.
///
/// All that is durable, the lock and the socket are in one folder, so who gives the same folder speaks with the same
/// daemon: one for each user and program.
public struct BackgroundService: Sendable, Hashable {
    /// The folder: absolute, of the user alone (mode 0700); made when it is not there.
    public var folder: String

    /// The program that is the daemon, an absolute path, and its arguments.
    ///
    /// It calls ``BackgroundDaemon/run()`` with the same folder. It is started detached from the terminal, with `/` as
    /// its working directory, when a transfer is there and no daemon runs.
    public var command: [String]

    /// A service in a folder of one's own choice.
    ///
    /// - Parameters:
    ///   - folder: See ``folder``.
    ///   - command: See ``command``.
    public init(folder: String, command: [String]) {
        self.folder = folder
        self.command = command
    }

    /// The service of a program in the user's folder for state: `$XDG_STATE_HOME/NAME/transfers`, else
    /// `~/.local/state/NAME/transfers` (XDG base directory specification).
    ///
    /// - Parameters:
    ///   - name: The program's name, as its folder is called.
    ///   - command: See ``command``.
    /// - Throws: ``TransferError/Code/badConfiguration`` when the name is no name of a folder, or there is no home.
    public init(name: String, command: [String]) throws(TransferError) {
        guard !name.isEmpty, name != ".", name != "..", !name.utf8.contains(where: { $0 == 0x2F || $0 == 0 }) else {
            throw TransferError(.badConfiguration, "'\(name)' is no name for a folder of background transfers")
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

    /// Whether tasks are recorded, as far as a look at the folder tells; blocks.
    public var hasTasks: Bool { folderNames(folder)?.contains { $0.hasSuffix(".\(TaskFolder.Part.task)") } ?? false }

    /// The daemon's socket, for a unit of systemd that listens to it.
    public var socketPath: String { folder + "/daemon.sock" }
    /// How fast the daemon may be, as it is on disk whether one runs or not; without a limit where nobody has set one.
    ///
    /// It is read anew each time, which blocks for a moment.
    public var recordedSchedule: RateSchedule { TaskFolder.schedule(in: folder) }
    /// What a running daemon holds locked.
    var lockPath: String { folder + "/daemon.lock" }

    /// What to tell of a daemon that does not answer.
    var silence: TransferError {
        guard let process = DaemonLock.holder(lockPath) else {
            return TransferError(.daemonUnavailable, "the daemon in \(folder) does not start")
        }
        return TransferError(
            .daemonUnavailable,
            "the daemon in \(folder) (process \(process)) does not answer; stop it with 'kill -9 \(process)'")
    }
}
