import HTTPTypes

/// The content of ``ResumeData``, and its bytes: a record with the head of a ``SealedFile``.
struct ResumeRecord: Hashable, Sendable {
    struct Damaged: Error {
        var message: String
    }

    var scheme: String
    var authority: String
    var target: String
    /// The absolute path of the temporary file.
    var temporary: String
    var inode: UInt64
    /// The number of bytes of the file that are safe, even after a power cut.
    var count: Int64
    /// When the file was last written, in nanoseconds since 1970; nil if it may have grown since.
    var modified: Int64?
    var total: Int64?
    var validator: Validator
    var fields: HTTPFields
    /// The ``MachineStart`` during which the file was written.
    var start = MachineStart.present

    static let prefix = ".byteclub-"
    static let suffix = ".part"
    /// The digit is the version of the format; versions 1 and 2 had another head.
    private static let kind = "resume 3"
    private static let mostFieldBytes = 16 << 10
    private static let mostBytes = 256 << 10

    /// The record's bytes.
    var encoded: [UInt8] {
        var writer = RecordWriter()
        writer.put(
            scheme, authority, target, temporary, inode, count, modified, total, validator, Self.storable(fields), start
        )
        return SealedFile.sealed(writer.bytes, kind: Self.kind)
    }

    /// Reads a record's bytes and checks every value.
    ///
    /// - Throws: The reason why they are unusable.
    init(decoding bytes: [UInt8]) throws(Damaged) {
        guard bytes.count <= Self.mostBytes, let content = SealedFile.content(of: bytes, kind: Self.kind) else {
            throw Damaged(message: "these bytes are damaged, or are not resume data of this version")
        }
        var reader = RecordReader(content)
        do throws(RecordReader.Damage) { self = try Self(&reader) } catch {
            throw Damaged(message: "the resume data are damaged")
        }
        guard reader.isAtEnd, count >= 0, total ?? .max >= count, isFileNameOurs, (try? RequestURL(request)) != nil
        else { throw Damaged(message: "the resume data contradict themselves") }
    }

    private init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        (scheme, authority, target, temporary, inode, count, modified, total, validator, fields, start) =
            try reader.values()
    }

    init(
        url: RequestURL, temporary: String, inode: UInt64, count: Int64, modified: Int64?, validator: Validator,
        representation: Representation
    ) {
        (scheme, authority, target) = (url.origin.scheme.rawValue, url.origin.authority, url.target)
        self.temporary = temporary
        self.inode = inode
        self.count = count
        self.modified = modified
        self.validator = validator
        total = representation.total
        fields = representation.fields
    }

    /// A request for the whole.
    var request: HTTPRequest {
        HTTPRequest(method: .get, scheme: scheme, authority: authority, path: target)
    }

    /// The representation that the file is part of.
    var representation: Representation { Representation(total: total, validator: validator, fields: fields) }

    /// Whether the file is a temporary file of this library: forged bytes must not cause writes to other files.
    private var isFileNameOurs: Bool {
        guard temporary.hasPrefix("/"), !temporary.utf8.contains(0), let slash = temporary.lastIndex(of: "/") else {
            return false
        }
        let name = temporary[temporary.index(after: slash)...]
        return name.hasPrefix(Self.prefix) && name.hasSuffix(Self.suffix)
    }

    /// The fields worth keeping: no cookies, and not too many.
    private static func storable(_ fields: HTTPFields) -> HTTPFields {
        var room = mostFieldBytes
        return HTTPFields(
            fields.filter { field in
                guard field.name != .setCookie else { return false }
                room -= field.name.rawName.utf8.count + field.value.utf8.count + 8
                return room >= 0
            })
    }
}

extension Validator: Recordable {
    func encode(to writer: inout RecordWriter) {
        if case .tag = self { writer.put(true, text) } else { writer.put(false, text) }
    }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        let (isTag, text): (Bool, String) = try reader.values()
        guard let validator = isTag ? Self(tag: text) : Self(date: text) else { throw RecordReader.Damage() }
        self = validator
    }
}
