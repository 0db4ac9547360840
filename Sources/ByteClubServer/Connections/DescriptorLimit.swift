import Glibc

/// How many files and connections the system lets this process have open.
enum DescriptorLimit {
    /// What the server needs besides connections: the database, the log, uploads.
    static let reserve = 128

    /// Asks for as many as this process may have.
    ///
    /// - Returns: How many it has.
    @discardableResult
    static func raise() -> Int {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
        if limit.rlim_cur < limit.rlim_max {
            limit.rlim_cur = limit.rlim_max
            _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            _ = unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        }
        return Int(clamping: limit.rlim_cur)
    }

    /// How many connections that allows: each may have a file open besides.
    static func connections(with descriptors: Int) -> Int { max(16, (descriptors - reserve) / 2) }
}
