import Glibc

/// How many cases to try, by `BYTECLUB_CASES`, and from which seed on, by `BYTECLUB_SEED`; with `BYTECLUB_SHRINK=0`,
/// what fails is told as it is.
struct PlanCheckSettings: Sendable {
    var cases: Int
    var seed: UInt64
    var shrinks: Bool

    init() {
        cases = Self.number("BYTECLUB_CASES").flatMap { Int(exactly: $0) } ?? 1_000_000
        seed = Self.number("BYTECLUB_SEED") ?? 1
        shrinks = Self.number("BYTECLUB_SHRINK") != 0
    }

    private static func number(_ name: String) -> UInt64? {
        guard let text = unsafe getenv(name) else { return nil }
        return UInt64(unsafe String(cString: text))
    }
}
