import Glibc

/// Another program of ours, which this one becomes for commands that need what is best not loaded for the rest.
struct SiblingProgram: Sendable {
    /// Hosts a club.
    static let server = SiblingProgram(
        name: "byteclub-server", advice: "install it on the machine that hosts the club")
    /// Keeps a mirror: this program with the engine and its database.
    static let mirror = SiblingProgram(name: "byteclub-mirror", advice: "install it beside 'byteclub'")

    /// The program's file name.
    let name: String
    /// What to do when it is missing.
    let advice: String

    /// Becomes that program with these arguments; returns only by throwing.
    func become(_ arguments: [String], _ context: Context) throws -> Never {
        for path in candidates(context.environment) where unsafe access(path, X_OK) == 0 {
            var vector: [UnsafeMutablePointer<CChar>?] = unsafe ([name] + arguments).map { unsafe strdup($0) }
            unsafe vector.append(nil)
            signal(SIGPIPE, SIG_DFL)
            unsafe execv(path, vector)
            throw FileError(.read, path)
        }
        throw Failure(.configuration, "'\(name)' is neither beside 'byteclub' nor in PATH; \(advice)")
    }

    /// Where the program may be: beside this one, then in PATH.
    func candidates(_ environment: [String: String], executable: String? = ownPath()) -> [String] {
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
