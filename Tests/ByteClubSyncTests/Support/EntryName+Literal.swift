@testable import ByteClubSync

extension EntryName: ExpressibleByStringLiteral {
    init(stringLiteral text: String) { self.init(text) }
}
