@testable import ByteClubSync

extension EntryName: ExpressibleByStringLiteral {
    public init(stringLiteral text: String) { self.init(text) }
}
