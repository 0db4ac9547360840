/// A version of a file that a ``CatalogueServer`` has.
public struct CatalogueFile: Sendable, Hashable {
    /// All of it.
    public var bytes: [UInt8]
    /// Its media type.
    public var type: String
    /// Counts the versions, from 1.
    public var version: Int

    /// A version of a file.
    public init(_ bytes: [UInt8], type: String, version: Int = 1) {
        self.bytes = bytes
        self.type = type
        self.version = version
    }

    /// Its strong entity tag, with the quotes.
    public var tag: String { "\"v\(version)\"" }

    /// What is asked for, as far as the file has it.
    enum Part: Equatable {
        case whole
        case range(Range<Int>)
        case unsatisfiable
    }

    /// Which part a request gets (RFC 9110, sections 13.1.5 and 14.2): of several ranges, or one that cannot be
    /// understood, the whole.
    func part(range: String?, ifRange: String?) -> Part {
        guard let range, range.hasPrefix("bytes="), ifRange == nil || ifRange == tag else { return .whole }
        let ends = range.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = ends.first, let last = ends.last else { return .whole }
        if first.isEmpty {
            guard let count = Int(last), count > 0 else { return last == "0" ? .unsatisfiable : .whole }
            return .range(max(bytes.count - count, 0)..<bytes.count)
        }
        guard let start = Int(first), start >= 0 else { return .whole }
        if last.isEmpty { return start < bytes.count ? .range(start..<bytes.count) : .unsatisfiable }
        guard let end = Int(last), start <= end else { return .whole }
        return start < bytes.count ? .range(start..<min(end + 1, bytes.count)) : .unsatisfiable
    }
}
