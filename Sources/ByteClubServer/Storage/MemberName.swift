import ByteClubCore
import Foundation

/// The rules for names of new members: none that looks like another's.
///
/// Letters of two scripts that look alike are not compared: that would need the tables of Unicode TS #39.
enum MemberName {
    /// Checks a name for a new member; members who have another name keep it.
    ///
    /// - Throws: ``StorageError`` `badMember` for a name that is empty, over 255 bytes, with a blank at either end, like
    ///   a path, or with characters that cannot be seen, turn the order of others, or mean nothing yet.
    static func check(_ name: String) throws {
        let scalars = name.unicodeScalars
        let hasBlankEnds = [scalars.first, scalars.last].contains { $0?.properties.isWhitespace == true }
        guard !name.unicodeScalars.contains(where: { $0 == "/" || $0 == "\\" }), name != ".", name != ".." else {
            throw StorageError(
                .badMember, "invalid name '\(name)': a member's name cannot have '/' or '\\', or be '.' or '..'")
        }
        guard name.utf8.count <= 255, !hasBlankEnds, scalars.allSatisfy(isVisible), !skeleton(name).isEmpty else {
            throw StorageError(
                .badMember,
                "a member's name must have 1 to 255 bytes, no invisible characters, and no space at either end")
        }
    }

    /// As ``check(_:)``, beside the names that members have.
    ///
    /// - Throws: ``StorageError`` also `nameTaken` for a name that is one of them, or looks like one.
    static func check(_ name: String, besides taken: [String]) throws {
        try check(name)
        let (folded, skeleton) = (PathKey.fold(name), skeleton(name))
        for other in taken {
            if PathKey.fold(other) == folded { throw StorageError(.nameTaken, "the name '\(name)' is taken") }
            if Self.skeleton(other) == skeleton {
                throw StorageError(.nameTaken, "a member has a name that looks like '\(name)'")
            }
        }
    }

    /// A form that names share that look the same: NFKC in one case, without invisible characters, with single blanks.
    static func skeleton(_ name: String) -> String {
        // In capitals first: some small letters have two forms, and some are two letters in capitals.
        seen(seen(name).uppercased().lowercased()).split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    private static func seen(_ text: String) -> String {
        var seen = String.UnicodeScalarView()
        for scalar in text.precomposedStringWithCompatibilityMapping.unicodeScalars
        // The blank of Braille is a symbol to Unicode.
        where !scalar.properties.isDefaultIgnorableCodePoint && scalar != "\u{2800}" {
            seen.append(scalar)
        }
        return String(seen)
    }

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}

/// The rules for a club's name on pages, in terminals and in the titles of windows.
enum ClubName {
    /// The rule in words for people.
    static let rule = "1 to \(longest) characters, on one line and without control characters"

    private static let longest = 60
    /// Characters may be put together of many others.
    private static let mostBytes = 255

    /// A name as it is kept: without blanks at its ends, in Unicode's form NFC; nil for blanks.
    ///
    /// - Throws: ``APIError`` 400 for one that is too long, is invisible, or would move the text beside it.
    static func read(_ text: String) throws(APIError) -> String? {
        let name = text.trimmingCharacters(in: .whitespacesAndNewlines).precomposedStringWithCanonicalMapping
        if name.isEmpty { return nil }
        guard name.count <= longest, name.utf8.count <= mostBytes, VisibleText.line(name) == name,
            !MemberName.skeleton(name).isEmpty
        else { throw APIError(400, "The club's name must have \(rule).") }
        return name
    }
}
