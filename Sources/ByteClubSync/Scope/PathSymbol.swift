import ByteClubCore

/// A character of a path, with what patterns ask of it.
struct PathSymbol: Sendable {
    /// The folded character.
    let scalar: UInt32
    /// Its upper case, where that is one character; else the character itself.
    let upper: UInt32
    /// The classes of both.
    let classes: ScalarClasses

    var isSlash: Bool { scalar == 0x2F }

    init(_ scalar: Unicode.Scalar) {
        self.scalar = scalar.value
        let mapping = scalar.properties.uppercaseMapping.unicodeScalars
        let upper = mapping.count == 1 ? mapping.first ?? scalar : scalar
        self.upper = upper.value
        classes = ScalarClasses(of: scalar).union(ScalarClasses(of: upper))
    }

    private static let ascii = (UInt8(0)..<128).map { PathSymbol(Unicode.Scalar($0)) }

    /// The characters of a path relative to the mirror's root, without a slash at its start.
    static func symbols(of key: PathKey) -> [PathSymbol] {
        key.string.unicodeScalars.dropFirst().map { $0.isASCII ? ascii[Int($0.value)] : PathSymbol($0) }
    }
}
