/// A JSON text in one line and the bytes that belong to it, in one body: the text, a newline, then the bytes.
///
/// Contents are sent verbatim, without encoding or scanning.
public struct SyncFrame: Hashable, Sendable {
    /// The MIME type.
    public static let mime = "application/vnd.byteclub.frame"

    /// The text.
    public var head: [UInt8]
    /// The bytes of the contents, one after the other.
    public var bodies: ArraySlice<UInt8>

    /// Splits a body at its first newline; nil when there is none.
    public init?(_ bytes: [UInt8]) {
        guard let newline = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        head = Array(bytes[..<newline])
        bodies = bytes[(newline + 1)...]
    }

    /// Takes the next content; nil when fewer bytes are left.
    public mutating func next(_ count: Int64) -> ArraySlice<UInt8>? {
        guard count >= 0, count <= Int64(bodies.count) else { return nil }
        defer { bodies = bodies.dropFirst(Int(count)) }
        return bodies.prefix(Int(count))
    }

    /// One body of a text and the bytes that belong to it.
    public static func join(_ head: [UInt8], _ bodies: [[UInt8]]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(head.count + 1 + bodies.reduce(0) { $0 + $1.count })
        bytes += head
        bytes.append(UInt8(ascii: "\n"))
        for body in bodies { bytes += body }
        return bytes
    }
}
