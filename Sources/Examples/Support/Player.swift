import FoundationEssentials
import Glibc

/// The program that plays audio files.
package enum Player {
    /// Known players and their arguments before the file, in the order in which they are tried.
    private static let known: [(name: String, arguments: [String], endings: Set<String>?)] = [
        ("mpv", ["--no-video", "--"], nil), ("ffplay", ["-nodisp", "-autoexit", "-loglevel", "error"], nil),
        ("cvlc", ["--play-and-exit"], nil), ("mplayer", ["-really-quiet"], nil), ("gst-play-1.0", [], nil),
        ("play", ["-q"], ["wav", "mp3", "ogg", "flac"]), ("mpg123", ["-q"], ["mp3"]), ("aplay", ["-q"], ["wav"]),
    ]

    /// Plays a file: the player replaces this program, so that it has the terminal and its exit code counts.
    ///
    /// - Parameters:
    ///   - file: The file's absolute path.
    ///   - variable: The environment's variable that may name another player, by its path or its name.
    /// - Throws: ``Failure`` if no player can be started.
    package static func play(_ file: String, variable: String) throws(Failure) -> Never {
        let environment = ProcessInfo.processInfo.environment
        let folders = (environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":").map(String.init)
        if let chosen = environment[variable], !chosen.isEmpty {
            guard let path = path(of: chosen, in: folders) else {
                throw Failure(.unavailable, "\(variable) names '\(chosen.printable)', which is no program")
            }
            try start([path, file])
        }
        let ending = file.split(separator: "/").last?.split(separator: ".").dropFirst().last?.lowercased() ?? ""
        for player in known where player.endings?.contains(ending) ?? true {
            if let path = path(of: player.name, in: folders) { try start([path] + player.arguments + [file]) }
        }
        throw Failure(.unavailable, "no player is installed for '\(file)': install mpv, or name one in \(variable)")
    }

    private static func path(of name: String, in folders: [String]) -> String? {
        let paths = name.contains("/") ? [name] : folders.map { "\($0)/\(name)" }
        return paths.first { path in
            var status = stat()
            guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
            return unsafe access(path, X_OK) == 0
        }
    }

    private static func start(_ command: [String]) throws(Failure) -> Never {
        fflush(nil)
        var words = unsafe command.map { unsafe strdup($0) } + [nil]
        unsafe execv(command[0], &words)
        let reason = unsafe String(cString: strerror(errno))
        throw Failure(.unavailable, "'\(command[0])' cannot be started: \(reason)")
    }
}
