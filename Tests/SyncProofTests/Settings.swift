import Glibc

/// What the environment asks of the tests.
enum Settings {
    static func environment(_ name: String) -> String? { unsafe getenv(name).map { unsafe String(cString: $0) } }
}
