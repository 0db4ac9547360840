import ByteClubCore
import Foundation

/// How a club may be called: on pages, in terminals and in the titles of windows.
enum ClubName {
    /// What a name must be, in words for people.
    static let rule = "1 to \(longest) characters, on one line and without control characters"

    private static let longest = 60
    /// Characters may be put together of many others.
    private static let mostBytes = 255

    /// A name as it is kept: without blanks at its ends, in Unicode's form NFC; nil for a text of blanks.
    ///
    /// - Throws: ``APIError`` 400 for one that is too long, can be seen nowhere, or would move what stands beside it.
    static func read(_ text: String) throws(APIError) -> String? {
        let name = text.trimmingCharacters(in: .whitespacesAndNewlines).precomposedStringWithCanonicalMapping
        if name.isEmpty { return nil }
        guard name.count <= longest, name.utf8.count <= mostBytes, VisibleText.line(name) == name,
            !MemberName.skeleton(name).isEmpty
        else { throw APIError(400, "The club's name must have \(rule).") }
        return name
    }
}
