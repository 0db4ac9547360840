import CLinux

/// How many files and connections the system lets this process have open.
enum DescriptorLimit {
    /// What the server needs besides connections: the database, the log, uploads.
    static let reserve = 128

    /// Asks for as many as this process may have.
    ///
    /// - Returns: How many it has.
    @discardableResult
    static func raise() -> Int { byteclub_raise_descriptor_limit() }

    /// How many connections that allows: each may have a file open besides.
    static func connections(with descriptors: Int) -> Int { max(16, (descriptors - reserve) / 2) }
}
