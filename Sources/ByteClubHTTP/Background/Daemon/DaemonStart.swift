import Glibc

/// How a daemon that was started by ``DaemonLauncher`` says that it is ready: its standard error is a pipe until then.
enum DaemonStart {
    /// The variable that names the folder of the daemon that is started.
    static let variable = "BYTECLUB_STARTED_DAEMON"
    private static let longestLog: Int64 = 1 << 20

    /// Turns output to the folder's `daemon.log`, which ends the pipe; does nothing for a daemon that was started otherwise.
    static func tellReady(_ service: BackgroundService) {
        guard let folder = unsafe getenv(variable), unsafe String(cString: folder) == service.folder else { return }
        let path = service.folder + "/daemon.log"
        var log = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o600)
        var status = stat()
        if log >= 0, unsafe fstat(log, &status) == 0, Int64(status.st_size) > longestLog { ftruncate(log, 0) }
        if log < 0 { log = unsafe open("/dev/null", O_WRONLY | O_CLOEXEC) }
        guard log >= 0 else { return }
        dup2(log, STDOUT_FILENO)
        dup2(log, STDERR_FILENO)
        close(log)
    }
}
