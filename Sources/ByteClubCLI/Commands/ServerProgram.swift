import Glibc

/// The other program, which this one becomes for the commands that run on the server's machine.
enum ServerProgram {
    static let name = "byteclub-server"

    /// Becomes the server program with these arguments; returns only by throwing.
    static func become(_ arguments: [String], _ context: Context) throws {
        for path in candidates(context.environment) where unsafe access(path, X_OK) == 0 {
            var vector: [UnsafeMutablePointer<CChar>?] = unsafe ([name] + arguments).map { unsafe strdup($0) }
            unsafe vector.append(nil)
            signal(SIGPIPE, SIG_DFL)
            unsafe execv(path, vector)
            throw FileError(.read, path)
        }
        throw Failure(
            .configuration,
            "'\(name)' is neither beside 'byteclub' nor in PATH; install it on the machine that hosts the club")
    }

    /// Where the program may be: beside this one, then in PATH.
    static func candidates(_ environment: [String: String], executable: String? = ownPath()) -> [String] {
        var directories: [String] = []
        if let executable { directories.append(LocalFile.parent(of: executable)) }
        directories += (environment["PATH"] ?? "").split(separator: ":").map(String.init)
        return directories.filter { $0.hasPrefix("/") }.map { $0 == "/" ? "/" + name : $0 + "/" + name }
    }

    private static func ownPath() -> String? {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0, count < buffer.count else { return nil }
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
