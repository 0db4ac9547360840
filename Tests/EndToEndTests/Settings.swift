import Glibc

/// What a person may set for a longer or a repeated run.
enum Settings {
    /// A whole number from the environment, nil when it is not set.
    static func number(_ name: String) -> Int? {
        unsafe getenv(name).flatMap { Int(unsafe String(cString: $0)) }
    }

    /// A text from the environment, nil when it is not set.
    static func text(_ name: String) -> String? { unsafe getenv(name).map { unsafe String(cString: $0) } }

    /// How often each kill test kills: `BYTECLUB_KILLS`, 200 unless it is set.
    static var kills: Int { number("BYTECLUB_KILLS") ?? 200 }

    /// How large the file is whose upload is killed, in MiB: `BYTECLUB_UPLOAD`, 24 unless it is set.
    static var uploadMebibytes: Int { number("BYTECLUB_UPLOAD") ?? 24 }

    /// How often an upload of a large file is killed: `BYTECLUB_UPLOAD_KILLS`, 4 unless it is set.
    static var uploadKills: Int { number("BYTECLUB_UPLOAD_KILLS") ?? 4 }

    /// How often the daemon is killed in each direction of a background transfer: `BYTECLUB_BACKGROUND_KILLS`, 3 unless
    /// it is set.
    static var backgroundKills: Int { number("BYTECLUB_BACKGROUND_KILLS") ?? 3 }

    /// How many files a large mirror has: `BYTECLUB_ENTRIES`, 10,000 unless it is set.
    static var entries: Int { number("BYTECLUB_ENTRIES") ?? 10_000 }
}
