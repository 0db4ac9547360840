import ByteClubFiles
import CLinux
import Glibc

/// The user's systemd, controlled by `systemctl --user`.
struct Systemctl: Sendable {
    private let program: String
    private let environment: [String: String]

    /// Finds the program in PATH, and checks that it reaches the user's systemd.
    ///
    /// - Throws: ``Failure`` with advice.
    init(_ context: Context, instead advice: String) throws {
        environment = context.environment
        let directories = (environment["PATH"] ?? "").split(separator: ":").filter { $0.hasPrefix("/") }.map(
            String.init)
        let found = directories.map { $0 + "/systemctl" }.first { path in unsafe access(path, X_OK) == 0 }
        guard let found else { throw Failure(.configuration, "systemd is not available; \(advice)") }
        program = found
        let answer = try run(["show-environment"])
        if answer.status != 0 {
            let reason = answer.message.isEmpty ? "" : " (\(answer.message))"
            throw Failure(.configuration, "your user systemd does not respond\(reason); \(advice)")
        }
    }

    /// Runs a command.
    ///
    /// - Throws: ``Failure`` with systemd's message when it fails.
    func callAsFunction(_ arguments: [String]) throws {
        let answer = try run(arguments)
        if answer.status != 0 {
            let reason = answer.message.isEmpty ? "exit status \(answer.status)" : answer.message
            throw Failure(.tryAgain, "'systemctl --user \(arguments.joined(separator: " "))' failed: \(reason)")
        }
    }

    /// Runs a command: its exit code, and the first line of its standard error.
    private func run(_ arguments: [String]) throws -> (status: Int32, message: String) {
        var ends: [Int32] = [-1, -1]
        guard unsafe byteclub_pipe(&ends) == 0 else { throw FileFailure("read", program) }
        defer { close(ends[0]) }
        var files = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&files)
        defer { unsafe posix_spawn_file_actions_destroy(&files) }
        unsafe posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        unsafe posix_spawn_file_actions_adddup2(&files, ends[1], STDERR_FILENO)
        var vector: [UnsafeMutablePointer<CChar>?] = unsafe (["systemctl", "--user"] + arguments).map {
            unsafe strdup($0)
        }
        unsafe vector.append(nil)
        var variables: [UnsafeMutablePointer<CChar>?] = unsafe environment.sorted { $0.key < $1.key }.map {
            unsafe strdup("\($0.key)=\($0.value)")
        }
        unsafe variables.append(nil)
        defer { unsafe (vector + variables).forEach { unsafe free($0) } }
        var child = pid_t()
        let failure = unsafe posix_spawn(&child, program, &files, nil, vector, variables)
        close(ends[1])
        guard failure == 0 else { throw FileFailure("read", program, failure) }
        let bytes = (try? LocalFile.read(ends[0], program, limit: 1 << 16)) ?? []
        guard let status = ShellCommand.end(of: child) else { throw FileFailure("read", program) }
        let line = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first.map(String.init) ?? ""
        return (status, line)
    }
}
