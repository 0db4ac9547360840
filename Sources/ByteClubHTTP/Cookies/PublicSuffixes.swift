import ByteClubFiles

/// The domains under which anyone may register names, such as `co.uk` and `github.io` (publicsuffix.org).
///
/// A cookie for one of them would reach the sites of others. The list is the file of the distribution in libpsl's
/// binary format, which is searched as it is: 50 KB, where the text would become megabytes.
struct PublicSuffixes: Sendable {
    /// The system's list, read when the first cookie store is created; nil where the package `publicsuffix` is missing.
    static let system = PublicSuffixes(file: "/usr/share/publicsuffix/public_suffix_list.dafsa")

    /// What a rule in the list says about its domain.
    private struct Rule: OptionSet {
        let rawValue: UInt8
        /// The domain is no public suffix although one above it has a wildcard.
        static let exception = Rule(rawValue: 1)
        /// All domains directly below are public suffixes, too.
        static let wildcard = Rule(rawValue: 2)
    }

    private static let mark = Array(".DAFSA@PSL_0   \n".utf8)
    private static let mostBytes: Int64 = 8 << 20

    /// The graph: a deterministic acyclic finite state automaton as Chromium and libpsl define it.
    private let graph: ArraySlice<UInt8>

    /// Reads a file; nil if it is missing or of another format.
    init?(file path: String) {
        guard let bytes = Self.content(of: path) else { return nil }
        self.init(bytes)
    }

    private static func content(of path: String) -> [UInt8]? {
        do throws(FileFailure) {
            guard let (file, status) = try OwnedDescriptor<FileFailure>.regularFile(path), status.size <= mostBytes
            else { return nil }
            return try file.read(Int(status.size), at: 0)
        } catch {
            return nil
        }
    }

    /// The list in these bytes; nil if they are of another format.
    init?(_ bytes: [UInt8]) {
        guard bytes.starts(with: Self.mark) else { return nil }
        graph = bytes[Self.mark.count...]
    }

    /// Whether a domain in lower case is a public suffix.
    ///
    /// As for libpsl, a domain that has a wildcard is one as well. A domain of one label is one only if it is listed.
    func contains(_ domain: String) -> Bool {
        let name = Array(domain.utf8.last == UInt8(ascii: ".") ? domain.utf8.dropLast() : domain.utf8[...])
        if let rule = rule(for: name[...]) { return !rule.contains(.exception) }
        guard let dot = name.firstIndex(of: UInt8(ascii: ".")) else { return false }
        return rule(for: name[(dot + 1)...])?.contains(.wildcard) ?? false
    }

    /// The rule for exactly this domain.
    ///
    /// Each node of the graph is a list of offsets to its children. A child is a label of characters, of which the last
    /// has the highest bit and is followed by another node, or which end with a value from 0x80 to 0x9F. Every step
    /// moves forward in a list or consumes a character, so a damaged graph is left as well.
    private func rule(for name: ArraySlice<UInt8>) -> Rule? {
        guard !name.isEmpty else { return nil }
        var rest = name
        // The place in the list of offsets, and the child that the last offset led to.
        var (list, child) = (graph.startIndex, graph.startIndex)
        while let (distance, length, isLast) = offset(at: list) {
            child += distance
            list = isLast ? graph.endIndex : list + length
            var isTaken = false
            while let wanted = rest.first, let found = byte(at: child), found & 0x80 == 0 {
                if found != wanted {
                    // No other child begins with the same character.
                    if isTaken { return nil }
                    break
                }
                isTaken = true
                rest = rest.dropFirst()
                child += 1
            }
            guard let found = byte(at: child) else { return nil }
            guard let wanted = rest.first else {
                if found & 0xE0 == 0x80 { return Rule(rawValue: found & 0x1F) }
                if isTaken { return nil }
                continue
            }
            guard found == wanted | 0x80 else {
                if isTaken { return nil }
                continue
            }
            rest = rest.dropFirst()
            child += 1
            list = child
        }
        return nil
    }

    private func byte(at index: Int) -> UInt8? { graph.indices.contains(index) ? graph[index] : nil }

    /// The offset at a place of a list, the number of its bytes, and whether the list ends with it.
    private func offset(at index: Int) -> (distance: Int, length: Int, isLast: Bool)? {
        guard let first = byte(at: index) else { return nil }
        let isLast = first & 0x80 != 0
        switch first & 0x60 {
        case 0x60:
            guard let second = byte(at: index + 1), let third = byte(at: index + 2) else { return nil }
            return (Int(first & 0x1F) << 16 | Int(second) << 8 | Int(third), 3, isLast)
        case 0x40:
            guard let second = byte(at: index + 1) else { return nil }
            return (Int(first & 0x1F) << 8 | Int(second), 2, isLast)
        default: return (Int(first & 0x3F), 1, isLast)
        }
    }
}
