import Glibc

/// Another program of ours, which this one becomes for commands that need what is best not loaded for the rest.
struct SiblingProgram: Sendable {
    /// Hosts a club.
    static let server = SiblingProgram(
        name: "byteclub-server", title: "byteclub", advice: "install it on the machine that hosts the club")
    /// Runs short commands, and background transfers.
    static let client = SiblingProgram(name: "byteclub", title: "byteclub", advice: "install it")
    /// Keeps a mirror: this program with the engine and its database.
    static let mirror = SiblingProgram(
        name: "byteclub-mirror", title: "byteclub-mirror", advice: "install it beside 'byteclub'")

    /// The program's file name.
    let name: String
    /// What it is called by: it names itself so in its messages.
    let title: String
    /// What to do when it is missing.
    let advice: String

    /// Becomes that program with these arguments; returns only by throwing.
    func become(_ arguments: [String], _ context: Context) throws -> Never {
        for path in candidates(context.environment, executable: context.executable) {
            var vector: [UnsafeMutablePointer<CChar>?] = unsafe ([title] + arguments).map { unsafe strdup($0) }
            unsafe vector.append(nil)
            defer { unsafe vector.forEach { unsafe free($0) } }
            signal(SIGPIPE, SIG_DFL)
            // The threads that run tasks block most signals, and a program begins with the mask of the one before it.
            var none = sigset_t()
            unsafe sigemptyset(&none)
            unsafe pthread_sigmask(SIG_SETMASK, &none, nil)
            unsafe execv(path, vector)
        }
        throw Failure(.configuration, "'\(name)' was not found beside 'byteclub' or in PATH; \(advice)")
    }

    /// Where the program may be: beside this one, then in PATH; never this one itself under another name.
    func candidates(_ environment: [String: String], executable: String?) -> [String] {
        var directories: [String] = []
        if let executable { directories.append(LocalFile.parent(of: executable)) }
        directories += (environment["PATH"] ?? "").split(separator: ":").map(String.init)
        let paths = directories.filter { $0.hasPrefix("/") }.map { $0 == "/" ? "/" + name : $0 + "/" + name }
        return paths.filter { path in
            guard let executable, let real = unsafe realpath(path, nil) else { return true }
            defer { unsafe free(real) }
            return unsafe String(cString: real) != executable
        }
    }
}
