import HTTPTypes

extension SessionTask {
    /// A line for `/bin/sh` that sends the same request with curl, its secrets replaced by `REDACTED`.
    ///
    /// Secrets are the values of all fields that are not public (see ``SessionConfiguration/publicFields``), a user in
    /// the URL, and the values in the query.
    ///
    /// The line shows the original request with the session's fields, before any ``RequestAdapter`` or
    /// ``Authentication`` changed it. A body in memory, or a part of a file, is not shown: curl would read it from
    /// standard input. A whole file is named.
    public var curlCommand: String {
        var words = ["curl", "--globoff", "--path-as-is"]
        if request.method == .head {
            words.append("--head")
        } else if request.method != .get || body.isPresent {
            words += ["--request", request.method.rawValue]
        }
        let fields = shownFields
        if !isDownload, !fields.contains(.acceptEncoding), !fields.contains(.range) { words.append("--compressed") }
        for field in fields {
            let isPublic = RequestHead.isPublic(field.name, inbox.configuration.publicFields)
            let value = isPublic || field.value.isEmpty ? field.value : Self.redaction
            words += ["--header", value.isEmpty ? "\(field.name.rawName);" : "\(field.name.rawName): \(value)"]
        }
        if let source = body.curlSource {
            // Without this, curl would add its own type.
            if !fields.contains(.contentType) { words += ["--header", "Content-Type:"] }
            words += ["--data-binary", source]
        }
        if case .download(let path) = kind { words += ["--output", path] }
        words.append(redactedURL)
        return words.map(Self.quoted).joined(separator: " ")
    }

    private static let redaction = "REDACTED"

    private var shownFields: HTTPFields {
        var fields = request.headerFields
        for field in inbox.configuration.additionalHeaders where !request.headerFields.contains(field.name) {
            fields.append(field)
        }
        if let key = options.idempotencyKey, let name = HTTPField.Name("Idempotency-Key"), !fields.contains(name) {
            fields[name] = key
        }
        fields.removeAll { RequestHead.ours.contains($0.name.canonicalName) }
        return fields
    }

    private var redactedURL: String {
        var authority = request.authority ?? ""
        if let at = authority.lastIndex(of: "@") { authority = Self.redaction + authority[at...] }
        let target = (request.path ?? "/").prefix { $0 != "#" }
        var text = "\(request.scheme ?? "https")://\(authority)\(target.prefix { $0 != "?" })"
        guard let mark = target.firstIndex(of: "?") else { return text }
        let values = target[target.index(after: mark)...].split(separator: "&", omittingEmptySubsequences: false)
        text += "?"
        text += values.map { value in
            // A word without a name may be the secret itself.
            value.firstIndex(of: "=").map { value[...$0] + Self.redaction } ?? (value.isEmpty ? "" : Self.redaction)
        }.joined(separator: "&")
        return text
    }

    /// Quotes a word for the shell; a NUL, which no word can contain, becomes a question mark.
    static func quoted(_ word: String) -> String {
        let isPlain = word.utf8.allSatisfy { $0.isAlphanumeric || "%+,-./:=@_".utf8.contains($0) }
        if isPlain, !word.isEmpty { return word }
        var bytes: [UInt8] = [UInt8(ascii: "'")]
        for byte in word.utf8 {
            switch byte {
            case 0: bytes.append(UInt8(ascii: "?"))
            case UInt8(ascii: "'"): bytes += Array("'\\''".utf8)
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes + [UInt8(ascii: "'")], as: UTF8.self)
    }
}

extension Body {
    fileprivate var isPresent: Bool { if case .none = self { false } else { true } }

    /// Where curl reads the body from; nil for none.
    fileprivate var curlSource: String? {
        switch self {
        case .none: nil
        case .file("-", 0, nil): "@./-"
        case .file(let path, 0, nil): "@\(path)"
        default: "@-"
        }
    }
}
