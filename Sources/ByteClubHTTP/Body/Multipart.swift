/// A form in the format `multipart/form-data` (RFC 7578).
///
/// Names and file names are written as browsers do (WHATWG HTML, "multipart/form-data encoding algorithm"): UTF-8, with
/// `"`, CR and LF as `%22`, `%0D` and `%0A`. Values are sent as they are, line ends too.
public struct Multipart: Sendable, Hashable {
    /// The text between the parts.
    public let boundary: String

    /// The heads and contents of the fields so far.
    private var fields: [BodyPart] = []
    private var problem: String?

    /// Creates an empty form.
    ///
    /// - Parameter boundary: The text between the parts, which must not occur in them. Nil creates a random one. Up to
    ///   70 of the characters that RFC 2046 section 5.1.1 allows; others fail the task with
    ///   ``TransferError/Code/badRequest``.
    public init(boundary: String? = nil) {
        self.boundary = boundary ?? Self.randomBoundary()
    }

    /// Adds a field with a text.
    ///
    /// - Parameters:
    ///   - name: The field's name.
    ///   - value: Its text, sent in UTF-8.
    public mutating func add(_ name: String, _ value: String) {
        add(name, nil, nil, .bytes(Array(value.utf8)))
    }

    /// Adds a field with bytes.
    ///
    /// - Parameters:
    ///   - name: The field's name.
    ///   - bytes: Its content.
    ///   - fileName: The file name for the bytes, or nil.
    ///   - contentType: Their media type; nil for none, or `application/octet-stream` where there is a file name.
    public mutating func add(_ name: String, bytes: [UInt8], fileName: String? = nil, contentType: String? = nil) {
        add(name, fileName, contentType, .bytes(bytes))
    }

    /// Adds a field with a file, which is read while it is sent.
    ///
    /// A file that changes between the start of an attempt and its end fails the task with
    /// ``TransferError/Code/fileChanged``.
    ///
    /// - Parameters:
    ///   - name: The field's name.
    ///   - path: A regular file.
    ///   - fileName: The file name to send; nil for the last component of the path.
    ///   - contentType: Its media type; nil for `application/octet-stream`.
    public mutating func add(_ name: String, file path: String, fileName: String? = nil, contentType: String? = nil) {
        let last = path.split(separator: "/").last.map(String.init) ?? path
        add(name, fileName ?? last, contentType, .file(path: path))
    }

    /// The value of the field `Content-Type`.
    public var contentType: String { "multipart/form-data; boundary=\(quotedBoundary)" }

    /// The whole form.
    var parts: [BodyPart] { fields + [.bytes(Array("--\(boundary)--\r\n".utf8))] }

    /// The reason why the form cannot be sent, or nil.
    var objection: String? {
        let bytes = Array(boundary.utf8)
        guard (1...70).contains(bytes.count), bytes.last != 0x20, bytes.allSatisfy(Self.isBoundaryCharacter) else {
            return "the form's boundary is invalid"
        }
        return problem
    }

    private mutating func add(_ name: String, _ fileName: String?, _ contentType: String?, _ content: BodyPart) {
        var head = "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(Self.escaped(Self.lineEnds(name)))\""
        if let fileName { head += "; filename=\"\(Self.escaped(fileName))\"" }
        if let type = contentType ?? (fileName == nil ? nil : "application/octet-stream") {
            if type.isEmpty || !type.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) {
                problem = "the media type of a form's part cannot be sent"
            }
            head += "\r\nContent-Type: \(type)"
        }
        fields += [.bytes(Array((head + "\r\n\r\n").utf8)), content, .bytes([13, 10])]
    }

    private var quotedBoundary: String {
        boundary.utf8.allSatisfy { $0.isAlphanumeric || "-_".utf8.contains($0) } ? boundary : "\"\(boundary)\""
    }

    private static func randomBoundary() -> String {
        "----FormBoundary\(UInt64.random(in: .min ... .max).digits)\(UInt64.random(in: .min ... .max).digits)"
    }

    private static func isBoundaryCharacter(_ byte: UInt8) -> Bool {
        byte.isAlphanumeric || "'()+_,-./:=? ".utf8.contains(byte)
    }

    private static func escaped(_ text: String) -> String {
        let codes: [UInt8: String] = [10: "%0A", 13: "%0D", 34: "%22"]
        return String(decoding: text.utf8.flatMap { codes[$0].map { Array($0.utf8) } ?? [$0] }, as: UTF8.self)
    }

    /// Converts line ends to CR LF, as the WHATWG's algorithm requires for field names.
    private static func lineEnds(_ text: String) -> String {
        var bytes: [UInt8] = []
        var last: UInt8 = 0
        for byte in text.utf8 {
            switch byte {
            case 10: bytes += last == 13 ? [] : [13, 10]
            case 13: bytes += [13, 10]
            default: bytes.append(byte)
            }
            last = byte
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
