import Testing

/// What mirror and server speak with each other.
enum Wire: String, CaseIterable, Sendable, CustomTestStringConvertible {
    /// ByteClub's own protocol, `/1/sync/…`.
    case extended
    /// Core API v1 and nothing else.
    case plain

    /// What is spoken where a test does not say: `BYTECLUB_WIRE`, `extended` unless it is set.
    static var usual: Wire { Settings.text("BYTECLUB_WIRE").flatMap { Wire(rawValue: $0) } ?? .extended }

    /// What is tried where both are: the one that `BYTECLUB_WIRE` says, or both.
    static var tried: [Wire] { Settings.text("BYTECLUB_WIRE") == nil ? allCases : [usual] }

    /// What the member's programs are told.
    var environment: [String: String] { self == .plain ? ["BYTECLUB_PLAIN": "1"] : [:] }

    var testDescription: String { rawValue }

    /// Where a sync learns of changes.
    var feed: String { self == .plain ? "/1/delta" : "/1/sync/changes" }

    /// Where a sync sends notes to.
    var uploads: String { self == .plain ? "/1/files_put/" : "/1/sync/batch" }
}
