import HTTPTypes

/// Decides what the response to a download means for the part that is there.
///
/// Nothing here acts: a part, a response, a step. Bytes of two representations never meet, because a part is only
/// continued by a 206 that begins where it ends and names the same validator and the same total.
enum ResumePlan {
    /// The start of a representation, in a temporary file.
    struct Part: Hashable, Sendable {
        /// The number of bytes, at least one.
        var count: Int64
        /// The length of the whole, if it was declared.
        var total: Int64?
        /// The validator of the whole.
        var validator: Validator

        /// The request fields for the rest.
        var request: [(name: String, value: String)] {
            [("Range", "bytes=\(count)-"), ("If-Range", validator.text)]
        }
    }

    /// The next step.
    enum Step: Hashable, Sendable {
        /// The body follows the part; the whole has this length.
        case append(total: Int64)
        /// The body is the whole or its start: discard the part.
        case startOver
        /// The part is complete.
        case done
        /// The body is useless: discard the part, and send the request again without it.
        case askAnew(String)
        /// The response must not be used, and repeating the request is useless.
        case refuse(String)
        /// The response does not concern the part, which is kept.
        case pass
    }

    /// The step for the response to a request for the rest of `part`.
    static func step(_ part: Part, _ response: HTTPResponse) -> Step {
        let fields = response.headerFields
        switch response.status.code {
        case 206: return continuation(of: part, fields)
        case 416:
            guard case .unsatisfied(let total)? = fields[.contentRange].flatMap({ ContentRange($0) }),
                total == part.count, total == part.total ?? total, !part.validator.isContradicted(by: fields)
            else { return .askAnew("the server has no such part") }
            return .done
        case 200..<300: return .startOver
        default: return .pass
        }
    }

    /// The step for the response to a request for the whole.
    static func step(_ response: HTTPResponse) -> Step {
        guard response.status.kind == .successful else { return .pass }
        guard response.status.code == 206 else { return .startOver }
        let fields = response.headerFields
        guard !isMultipart(fields), case .part(let range, .some)? = fields[.contentRange].flatMap({ ContentRange($0) }),
            range.lowerBound == 0
        else { return .refuse("the server sent a part that was not requested") }
        return .startOver
    }

    private static func continuation(of part: Part, _ fields: HTTPFields) -> Step {
        if isMultipart(fields) { return .refuse("the server sent several parts where one was requested") }
        if Representation.isEncoded(fields) { return .askAnew("the server compressed the rest") }
        guard case .part(let range, let total)? = fields[.contentRange].flatMap({ ContentRange($0) }) else {
            return .askAnew("the server did not identify the part it sent")
        }
        if let length = fields[.contentLength], ContentRange.number(length) != range.upperBound - range.lowerBound + 1 {
            return .askAnew("the server sent a part of another length than it announced")
        }
        if range.lowerBound == 0, total != nil { return .startOver }
        guard range.lowerBound == part.count else { return .askAnew("the server sent another part") }
        guard part.validator.isRepeated(in: fields) else { return .askAnew("the file on the server has changed") }
        guard let whole = total ?? part.total, whole == part.total ?? whole, range.upperBound < whole else {
            return .askAnew("the file on the server has another length")
        }
        return .append(total: whole)
    }

    private static func isMultipart(_ fields: HTTPFields) -> Bool {
        fields[.contentType]?.lowercased().hasPrefix("multipart/byteranges") ?? false
    }
}

/// The value of a `Content-Range` field in bytes (RFC 9110 section 14.4).
enum ContentRange: Hashable, Sendable {
    /// A byte range, with the total length if it is known.
    case part(ClosedRange<Int64>, total: Int64?)
    /// No range: the total length is this.
    case unsatisfied(total: Int64)

    /// Parses a field; nil if it is invalid or contradicts itself.
    init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let sides = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard sides.count == 2 else { return nil }
        let total = Self.number(sides[1])
        if sides[0] == "*" {
            guard let total else { return nil }
            self = .unsatisfied(total: total)
            return
        }
        let ends = sides[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, total != nil || sides[1] == "*", let first = Self.number(ends[0]),
            let last = Self.number(ends[1]), first <= last, last < total ?? .max
        else { return nil }
        self = .part(first...last, total: total)
    }

    /// Parses decimal digits.
    static func number(_ text: some StringProtocol) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text)
    }
}
