import HTTPTypes

/// Decides what the response to a download means for the part that is there.
///
/// Nothing here acts: a part, a response, a step. Bytes of two representations never meet, because a part is only
/// continued by a 206 that begins where it ends and names the same validator and the same total.
enum ResumePlan {
    /// A beginning of a representation, in a temporary file.
    struct Part: Hashable, Sendable {
        /// How many bytes there are: at least one.
        var count: Int64
        /// The whole's length, where it was declared.
        var total: Int64?
        /// What the whole is known by.
        var validator: Validator

        /// The fields that ask for the rest.
        var request: [(name: String, value: String)] {
            [("Range", "bytes=\(count)-"), ("If-Range", validator.text)]
        }
    }

    /// What to do.
    enum Step: Hashable, Sendable {
        /// The body follows the part; the whole has this length.
        case append(total: Int64)
        /// The body is the whole, or its beginning: forget the part.
        case startOver
        /// The part is the whole.
        case done
        /// The body is of no use: forget the part, and ask once more without it.
        case askAnew(String)
        /// The response must not be used, and asking again is of no use.
        case refuse(String)
        /// The response has nothing to do with the part, which stays.
        case pass
    }

    /// What to do with the response to a request that asked for the rest of `part`.
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

    /// What to do with the response to a request that asked for the whole.
    static func step(_ response: HTTPResponse) -> Step {
        guard response.status.kind == .successful else { return .pass }
        guard response.status.code == 206 else { return .startOver }
        let fields = response.headerFields
        guard !isMultipart(fields), case .part(let range, .some)? = fields[.contentRange].flatMap({ ContentRange($0) }),
            range.lowerBound == 0
        else { return .refuse("the server sent a part that was not asked for") }
        return .startOver
    }

    private static func continuation(of part: Part, _ fields: HTTPFields) -> Step {
        if isMultipart(fields) { return .refuse("the server sent several parts where one was asked for") }
        if Representation.isEncoded(fields) { return .askAnew("the server compressed the rest") }
        guard case .part(let range, let total)? = fields[.contentRange].flatMap({ ContentRange($0) }) else {
            return .askAnew("the server does not say which part it sent")
        }
        if let length = fields[.contentLength], ContentRange.number(length) != range.upperBound - range.lowerBound + 1 {
            return .askAnew("the server sent a part of another length than it says")
        }
        if range.lowerBound == 0, total != nil { return .startOver }
        guard range.lowerBound == part.count else { return .askAnew("the server sent another part") }
        guard part.validator.isRepeated(in: fields) else { return .askAnew("the file on the server is another one") }
        guard let whole = total ?? part.total, whole == part.total ?? whole, range.upperBound < whole else {
            return .askAnew("the file on the server has another length")
        }
        return .append(total: whole)
    }

    private static func isMultipart(_ fields: HTTPFields) -> Bool {
        fields[.contentType]?.lowercased().hasPrefix("multipart/byteranges") ?? false
    }
}
