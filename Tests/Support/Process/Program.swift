import Glibc

/// Finds the project's programs and runs them.
public enum Program {
    /// The folder of the programs: `BYTECLUB_PROGRAMS`, or where the test bundle itself is.
    public static let directory: String = {
        if let given = unsafe getenv("BYTECLUB_PROGRAMS").map({ unsafe String(cString: $0) }), !given.isEmpty {
            return given
        }
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
        let path = String(decoding: buffer.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return "/" + path.split(separator: "/").dropLast().joined(separator: "/")
    }()

    /// The path of one of the project's programs.
    public static func path(_ name: String) -> String { directory + "/" + name }

    /// What every program gets: a path that finds ours first, and a language; nothing of the tester's own settings.
    public static var environment: [String: String] {
        let path = unsafe getenv("PATH").map { unsafe String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
        return ["PATH": directory + ":" + path, "LANG": "C.UTF-8", "TZ": "UTC"]
    }

    /// Runs a program to its end.
    ///
    /// - Parameters:
    ///   - name: One of the project's programs, or a path.
    ///   - arguments: What follows the program's name.
    ///   - environment: Added to ``environment``.
    ///   - directory: Where it starts.
    ///   - input: What it can read from standard input.
    ///   - timeout: After which it is killed.
    ///   - terminals: Which of its outputs are terminals.
    ///   - columns: The terminals' width.
    /// - Returns: How it ended and what it said.
    /// - Throws: An error when it cannot be started.
    public static func run(
        _ name: String, _ arguments: [String], environment: [String: String] = [:], directory: String = "/",
        input: [UInt8] = [], timeout: Duration = .seconds(60), terminals: Set<SpawnedProcess.Stream> = [],
        columns: UInt16 = 100
    ) async throws -> ProgramResult {
        try await start(
            name, arguments, environment: environment, directory: directory, input: input, timeout: timeout,
            terminals: terminals, columns: columns
        ).result()
    }

    /// Starts a program; see ``run(_:_:environment:directory:input:timeout:terminals:columns:)``.
    public static func start(
        _ name: String, _ arguments: [String], environment: [String: String] = [:], directory: String = "/",
        input: [UInt8] = [], timeout: Duration = .seconds(60), terminals: Set<SpawnedProcess.Stream> = [],
        columns: UInt16 = 100
    ) throws -> SpawnedProcess {
        try SpawnedProcess(
            name.contains("/") ? name : path(name), arguments,
            environment: Self.environment.merging(environment) { _, new in new }, directory: directory, input: input,
            timeout: timeout, terminals: terminals, columns: columns)
    }

    /// The path of a program of the system, nil when it is not installed.
    public static func system(_ name: String) -> String? {
        ["/usr/bin/", "/bin/", "/usr/sbin/", "/sbin/", "/usr/local/bin/"].map { $0 + name }
            .first { unsafe access($0, X_OK) == 0 }
    }
}
