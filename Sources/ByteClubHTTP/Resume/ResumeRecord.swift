import HTTPTypes

/// What ``ResumeData`` says, and its bytes.
///
/// `BCRD`, a version, then each value in order: numbers in eight bytes, least first, texts after their length in four.
/// The last eight bytes are a checksum (FNV-1a) of all before them, which finds damage, not forgery.
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
    /// How many bytes of the file count, also after a power cut.
    var count: Int64
    /// When the file was last written, in nanoseconds since 1970; nil if it may have grown since.
    var modified: Int64?
    var total: Int64?
    var validator: Validator
    var fields: HTTPFields
    /// During which ``MachineStart`` the file was written.
    var start = MachineStart.present

    static let prefix = ".byteclub-"
    static let suffix = ".part"
    private static let magic = Array("BCRD".utf8)
    private static let version: UInt8 = 2
    /// The version without ``start``.
    private static let versionWithoutStart: UInt8 = 1
    private static let mostFieldBytes = 16 << 10
    private static let mostBytes = 256 << 10
    private static let none: Int64 = -1

    /// The record's bytes.
    var encoded: [UInt8] {
        var bytes = Self.magic + [Self.version]
        for text in [scheme, authority, target, temporary] { Self.append(text, to: &bytes) }
        for number in [Int64(bitPattern: inode), count, modified ?? Self.none, total ?? Self.none] {
            Self.append(UInt64(bitPattern: number), to: &bytes)
        }
        if case .tag = validator { bytes.append(0) } else { bytes.append(1) }
        Self.append(validator.text, to: &bytes)
        let kept = Self.storable(fields)
        Self.append(UInt64(kept.count), to: &bytes)
        for field in kept {
            Self.append(field.name.rawName, to: &bytes)
            Self.append(field.value, to: &bytes)
        }
        Self.append(start, to: &bytes)
        Self.append(Self.checksum(bytes[...]), to: &bytes)
        return bytes
    }

    /// Reads a record's bytes.
    ///
    /// - Throws: What is wrong with them; a record that is read has been checked in every value.
    init(decoding bytes: [UInt8]) throws(Damaged) {
        guard bytes.count <= Self.mostBytes, bytes.starts(with: Self.magic), bytes.count > Self.magic.count else {
            throw Damaged(message: "these bytes are no resume data")
        }
        let version = bytes[Self.magic.count]
        guard version == Self.version || version == Self.versionWithoutStart else {
            throw Damaged(message: "the resume data have version \(version), not \(Self.version)")
        }
        var reader = Reader(rest: bytes[(Self.magic.count + 1)...])
        guard bytes.count > 16 else { throw Damaged(message: "the resume data are cut off") }
        var end = Reader(rest: bytes[(bytes.count - 8)...])
        guard try end.number() == Self.checksum(bytes[..<(bytes.count - 8)]) else {
            throw Damaged(message: "the resume data are damaged")
        }
        (scheme, authority, target, temporary) = (
            try reader.text(), try reader.text(), try reader.text(), try reader.text()
        )
        inode = try reader.number()
        count = Int64(bitPattern: try reader.number())
        let modified = Int64(bitPattern: try reader.number())
        let total = Int64(bitPattern: try reader.number())
        let isTag = try reader.byte() == 0
        let text = try reader.text()
        guard let validator = isTag ? Validator(tag: text) : Validator(date: text) else {
            throw Damaged(message: "the resume data name no version of the file")
        }
        fields = HTTPFields()
        for _ in 0..<min(try reader.number(), UInt64(Self.mostFieldBytes)) {
            let (name, value) = (try reader.text(), try reader.text())
            guard let name = HTTPField.Name(name) else { throw Damaged(message: "the resume data hold a bad field") }
            fields.append(HTTPField(name: name, value: value))
        }
        start = version == Self.version ? try reader.text() : ""
        self.modified = modified == Self.none ? nil : modified
        self.total = total == Self.none ? nil : total
        self.validator = validator
        guard reader.rest.count == 8, count >= 0, total >= Self.none, self.total ?? .max >= count, isFileNameOurs,
            (try? RequestURL(request)) != nil
        else { throw Damaged(message: "the resume data contradict themselves") }
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

    /// What the file is a part of.
    var representation: Representation { Representation(total: total, validator: validator, fields: fields) }

    /// Bytes from elsewhere must not make us write to a file that is no temporary one of ours.
    private var isFileNameOurs: Bool {
        guard temporary.hasPrefix("/"), !temporary.utf8.contains(0), let slash = temporary.lastIndex(of: "/") else {
            return false
        }
        let name = temporary[temporary.index(after: slash)...]
        return name.hasPrefix(Self.prefix) && name.hasSuffix(Self.suffix)
    }

    /// The fields worth keeping: no cookies, and not too many.
    private static func storable(_ fields: HTTPFields) -> [HTTPField] {
        var room = mostFieldBytes
        return fields.filter { field in
            guard field.name != .setCookie else { return false }
            room -= field.name.rawName.utf8.count + field.value.utf8.count + 8
            return room >= 0
        }
    }

    private static func append(_ number: UInt64, to bytes: inout [UInt8]) {
        for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(shift))) }
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        let count = UInt32(clamping: text.utf8.count)
        for shift in stride(from: 0, to: 32, by: 8) { bytes.append(UInt8(truncatingIfNeeded: count >> UInt32(shift))) }
        bytes += text.utf8
    }

    private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    private struct Reader {
        var rest: ArraySlice<UInt8>

        mutating func byte() throws(Damaged) -> UInt8 {
            guard let byte = rest.popFirst() else { throw Damaged(message: "the resume data are cut off") }
            return byte
        }

        mutating func number(bytes: Int = 8) throws(Damaged) -> UInt64 {
            var number: UInt64 = 0
            for index in 0..<bytes { number |= UInt64(try byte()) << UInt64(index * 8) }
            return number
        }

        mutating func text() throws(Damaged) -> String {
            let count = Int(try number(bytes: 4))
            guard count <= rest.count, let text = String(validating: rest.prefix(count), as: UTF8.self) else {
                throw Damaged(message: "the resume data are damaged")
            }
            rest = rest.dropFirst(count)
            return text
        }
    }
}
