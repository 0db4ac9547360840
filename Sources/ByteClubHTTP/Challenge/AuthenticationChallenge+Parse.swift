public import HTTPTypes

extension HTTPResponse {
    /// The challenges of the response's `WWW-Authenticate` fields, in their order.
    ///
    /// Reading ends at the first violation of RFC 9110 section 11 in a field; what was read before it is kept, and
    /// further fields are read. At most 16 KiB, 32 challenges, and 32 parameters of each are read.
    ///
    /// - Parameter request: The request, whose address is the origin of the challenges.
    /// - Returns: The challenges; none if the address cannot be used.
    public func challenges(to request: HTTPRequest) -> [AuthenticationChallenge] {
        guard let origin = try? RequestURL(request).origin else { return [] }
        return AuthenticationChallenge.all(in: headerFields, origin: origin.text)
    }
}

extension AuthenticationChallenge {
    /// Reads the challenges of a server, or of a proxy, from a response's fields.
    static func all(in fields: HTTPFields, origin: String, ofProxy isOfProxy: Bool = false) -> [AuthenticationChallenge]
    {
        var reader = ChallengeReader(origin: origin, isOfProxy: isOfProxy)
        let name: HTTPField.Name = isOfProxy ? .proxyAuthenticate : .wwwAuthenticate
        for field in fields where field.name == name {
            unsafe field.withUnsafeBytesOfValue { unsafe reader.read(Array($0.prefix(ChallengeReader.mostBytes))) }
        }
        return reader.challenges
    }
}

/// Reads challenges from field values, which are untrusted (RFC 9110 sections 5.6.1, 11.2 and 11.3).
struct ChallengeReader {
    /// The bytes read of all fields together.
    static let mostBytes = 16 << 10
    static let mostChallenges = 32
    static let mostParameters = 32

    private(set) var challenges: [AuthenticationChallenge] = []
    private let origin: String
    private let isOfProxy: Bool
    private var bytes: [UInt8] = []
    private var index = 0
    private var left = ChallengeReader.mostBytes
    /// Whether the last challenge may get more parameters.
    private var isOpen = false

    init(origin: String, isOfProxy: Bool) {
        self.origin = origin
        self.isOfProxy = isOfProxy
    }

    /// Reads one field, which may continue the list of the one before.
    mutating func read(_ value: [UInt8]) {
        bytes = Array(value.prefix(left))
        left -= bytes.count
        index = 0
        while true {
            skipBlanks(andCommas: true)
            guard index < bytes.count else { break }
            // A violation ends the field; a parameter at the start of the next one would be of an unknown challenge.
            guard readElement() else {
                isOpen = false
                break
            }
        }
        bytes = []
    }

    /// Reads a scheme with what follows it up to the next comma, or a parameter; false for a violation.
    private mutating func readElement() -> Bool {
        guard let name = readToken() else { return false }
        let end = index
        skipBlanks()
        if next == UInt8(ascii: "=") { return readParameter(name) }
        guard challenges.count < Self.mostChallenges else { return false }
        challenges.append(AuthenticationChallenge(scheme: name, origin: origin, isOfProxy: isOfProxy))
        isOpen = true
        if isAtEnd { return true }
        // Something follows the scheme, after a blank.
        guard index > end else { return false }
        if let token = readToken68() {
            challenges[challenges.count - 1].token = token
            isOpen = false
            return true
        }
        guard let parameter = readToken() else { return false }
        skipBlanks()
        return next == UInt8(ascii: "=") && readParameter(parameter)
    }

    /// Reads the value of a parameter of the last challenge, from the equals sign on; false for a violation.
    private mutating func readParameter(_ name: String) -> Bool {
        guard isOpen, let last = challenges.indices.last, challenges[last].parameters.count < Self.mostParameters else {
            return false
        }
        index += 1
        skipBlanks()
        guard let value = next == UInt8(ascii: "\"") ? readQuoted() : readToken() else { return false }
        let end = index
        skipBlanks()
        guard isAtEnd || index > end else { return false }
        challenges[last].add(name, value)
        return isAtEnd
    }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    /// Whether the element has ended.
    private var isAtEnd: Bool { next == nil || next == UInt8(ascii: ",") }

    private mutating func skipBlanks(andCommas isList: Bool = false) {
        while let byte = next, byte == 0x20 || byte == 9 || isList && byte == UInt8(ascii: ",") { index += 1 }
    }

    private mutating func readToken() -> String? {
        let start = index
        while let byte = next, byte.isTokenCharacter { index += 1 }
        return start < index ? String(decoding: bytes[start..<index], as: UTF8.self) : nil
    }

    /// Reads a token68 that is the whole rest of the element; nil, and nothing read, for anything else.
    private mutating func readToken68() -> String? {
        let start = index
        while let byte = next, byte.isAlphanumeric || "-._~+/".utf8.contains(byte) { index += 1 }
        let isEmpty = index == start
        while next == UInt8(ascii: "=") { index += 1 }
        let end = index
        skipBlanks()
        guard !isEmpty, isAtEnd else {
            index = start
            return nil
        }
        return String(decoding: bytes[start..<end], as: UTF8.self)
    }

    /// Reads a quoted string, without quotes and escapes; nil if it does not end or contains a control character.
    private mutating func readQuoted() -> String? {
        index += 1
        var text: [UInt8] = []
        while let byte = next {
            index += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = next, escaped.isQuotable else { return nil }
                index += 1
                text.append(escaped)
            default:
                guard byte.isQuotable else { return nil }
                text.append(byte)
            }
        }
        return nil
    }
}

extension UInt8 {
    /// Whether it may be part of a token (RFC 9110 section 5.6.2).
    fileprivate var isTokenCharacter: Bool { isAlphanumeric || "!#$%&'*+-.^_`|~".utf8.contains(self) }

    /// Whether it may be part of a quoted string, with or without a backslash.
    fileprivate var isQuotable: Bool { self == 9 || self >= 0x20 && self != 0x7F }
}
