/// Finds the simple properties of one namespace in an XMP packet (ISO 16684-1, 7).
///
/// A property may be spelled as an attribute with either quote or as an element, under any prefix; only the namespace's
/// URI counts. The scanner is forgiving: broken XML gives the properties before the break.
struct XMPPacket {
    private struct Binding {
        let prefix: String
        let uri: String
        let depth: Int
    }

    /// A packet declares a few dozen namespaces; more would only be there to make looking them up slow.
    private static let mostBindings = 256
    /// A packet names a few thousand elements and attributes; what follows more is not looked at, for the same reason.
    private static let mostNames = 20_000

    private let bytes: [UInt8]
    private let namespace: String
    private var position = 0
    private var depth = 0
    private var names = 0
    private var bindings: [Binding] = []
    private var open: (name: String, depth: Int, text: [UInt8])?
    private var found: [String: String] = [:]

    /// The properties by local name, blanks around the values removed; the first of a name wins.
    static func properties(of namespace: String, in bytes: [UInt8]) -> [String: String] {
        var packet = XMPPacket(bytes: utf8(bytes), namespace: namespace)
        packet.scan()
        return packet.found
    }

    /// The packet's text in UTF-8, whichever encoding it begins with (ISO 16684-1, 7.3.2, allows UTF-16 and UTF-32).
    private static func utf8(_ bytes: [UInt8]) -> [UInt8] {
        // The packet's first characters are a mark of the byte order or ASCII, whose other bytes are 0.
        let zeros = bytes.prefix(8).map { $0 == 0 }
        func isText(_ pattern: [Bool]) -> Bool {
            zeros.count == 8 && zeros.dropFirst(4).elementsEqual((0..<4).map { pattern[$0 % pattern.count] })
        }
        let patterns = [[false, true, true, true], [true, true, true, false], [false, true], [true, false]]
        guard let pattern = patterns.first(where: isText) else { return bytes }
        let (size, isLittle) = (pattern.count, !pattern[0])
        let units = stride(from: 0, to: bytes.count - size + 1, by: size).map { start in
            UInt32(bytes[start..<start + size].number(isLittle: isLittle))
        }
        if size == 2 {
            return Array(String(decoding: units.map { UInt16(truncatingIfNeeded: $0) }, as: UTF16.self).utf8)
        }
        return Array(String(decoding: units, as: UTF32.self).utf8)
    }

    private mutating func scan() {
        while position < bytes.count, names < Self.mostNames {
            guard bytes[position] == UInt8(ascii: "<") else {
                if open != nil { open?.text.append(bytes[position]) }
                position += 1
                continue
            }
            if bytes.starts(with: "<!--", at: position) {
                skip(past: "-->")
            } else if bytes.starts(with: "<![CDATA[", at: position) {
                skip(past: "]]>")
            } else if bytes.starts(with: "<?", at: position) {
                skip(past: "?>")
            } else if bytes.starts(with: "<!", at: position) {
                skip(past: ">")
            } else if bytes.starts(with: "</", at: position) {
                skip(past: ">")
                endElement()
            } else {
                position += 1
                startElement()
            }
        }
    }

    private mutating func startElement() {
        let name = takeName()
        guard !name.isEmpty else { return }
        depth += 1
        var attributes: [(name: String, value: Range<Int>)] = []
        var isEmpty = false
        while position < bytes.count, names < Self.mostNames {
            skipBlanks()
            guard position < bytes.count else { return }
            if bytes[position] == UInt8(ascii: ">") { break }
            if bytes[position] == UInt8(ascii: "/") {
                isEmpty = true
                position += 1
                continue
            }
            let attribute = takeName()
            guard !attribute.isEmpty, let value = takeValue() else {
                position += 1
                continue
            }
            attributes.append((attribute, value))
        }
        position += 1
        for (attribute, value) in attributes where attribute == "xmlns" || attribute.hasPrefix("xmlns:") {
            guard bindings.count < Self.mostBindings else { break }
            let uri = Self.decoded(bytes[value])
            bindings.append(Binding(prefix: String(attribute.dropFirst(6)), uri: uri, depth: depth))
        }
        for (attribute, value) in attributes {
            // An attribute without a prefix has no namespace.
            if let local = localName(attribute, hasDefault: false) { keep(local, Self.decoded(bytes[value])) }
        }
        if let local = localName(name, hasDefault: true) { open = (local, depth, []) }
        if isEmpty { endElement() }
    }

    private mutating func endElement() {
        if let element = open, element.depth == depth {
            keep(element.name, Self.decoded(element.text[...]))
            open = nil
        }
        while let last = bindings.last, last.depth >= depth { bindings.removeLast() }
        depth = max(0, depth - 1)
    }

    private mutating func keep(_ name: String, _ value: String) {
        let blanks: Set<Character> = [" ", "\t", "\n", "\r", "\r\n"]
        var value = value[...]
        while let first = value.first, blanks.contains(first) { value.removeFirst() }
        while let last = value.last, blanks.contains(last) { value.removeLast() }
        if found[name] == nil, !value.isEmpty { found[name] = String(value) }
    }

    /// The local name if the qualified name is in the wanted namespace.
    private func localName(_ name: String, hasDefault: Bool) -> String? {
        let parts = name.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let local = parts.last, parts.count == 2 || hasDefault else { return nil }
        let prefix = parts.count == 2 ? String(parts[0]) : ""
        let uri = bindings.last { $0.prefix == prefix }?.uri
        return uri == namespace ? String(local) : nil
    }
}

extension XMPPacket {
    private mutating func skip(past end: StaticString) {
        while position < bytes.count, !bytes.starts(with: end, at: position) { position += 1 }
        position += end.utf8CodeUnitCount
    }

    private mutating func skipBlanks() {
        while position < bytes.count, bytes[position] <= 0x20 { position += 1 }
    }

    private mutating func takeName() -> String {
        names += 1
        let start = position
        while position < bytes.count, bytes[position] > 0x20, !#"<>/='""#.utf8.contains(bytes[position]) {
            position += 1
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    /// The range of a value in quotes: most values are not needed, and some are whole recordings.
    private mutating func takeValue() -> Range<Int>? {
        skipBlanks()
        guard position < bytes.count, bytes[position] == UInt8(ascii: "=") else { return nil }
        position += 1
        skipBlanks()
        guard position < bytes.count, #"'""#.utf8.contains(bytes[position]) else { return nil }
        let quote = bytes[position]
        let start = position + 1
        guard let end = bytes[start...].firstIndex(of: quote) else {
            position = bytes.count
            return nil
        }
        position = end + 1
        return start..<end
    }

    /// Text with its entities resolved; unknown ones stay as they are.
    private static func decoded(_ bytes: ArraySlice<UInt8>) -> String {
        let text = String(decoding: bytes, as: UTF8.self)
        guard bytes.contains(UInt8(ascii: "&")) else { return text }
        var result = ""
        var rest = text[...]
        while let ampersand = rest.firstIndex(of: "&") {
            result += rest[..<ampersand]
            rest = rest[rest.index(after: ampersand)...]
            guard let end = rest.prefix(10).firstIndex(of: ";"), let scalar = entity(rest[..<end]) else {
                result += "&"
                continue
            }
            result.unicodeScalars.append(scalar)
            rest = rest[rest.index(after: end)...]
        }
        return result + rest
    }

    private static func entity(_ name: Substring) -> Unicode.Scalar? {
        let named: [Substring: Unicode.Scalar] = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'"]
        if let scalar = named[name] { return scalar }
        if name.hasPrefix("#x") { return UInt32(name.dropFirst(2), radix: 16).flatMap(Unicode.Scalar.init) }
        if name.hasPrefix("#") { return UInt32(name.dropFirst()).flatMap(Unicode.Scalar.init) }
        return nil
    }
}

/// Collects the ranges of a photo's XMP: standard packets, each in one segment, and the parts of an extended one (XMP
/// Specification, part 3, 1.1.3).
struct XMPParts {
    /// One segment of an extended packet.
    private struct Part {
        /// The digest by which the standard packet announces the extended one.
        let packet: ArraySlice<UInt8>
        /// The length of the whole packet.
        let whole: Int
        /// Where in the packet the part belongs; parts may lie in the file in any order.
        let offset: Int
        let bytes: Range<Int>
    }

    /// How much of a segment's body identifies its part of the XMP.
    static let headBytes = 75
    /// Later standard packets are not read: there is one as a rule, and another where a program added its own.
    private static let mostStandard = 8
    /// A longer extended packet is not read; the sounds and pictures in real ones take some MiB.
    private static let longestExtended = 16 << 20

    private var packets: [Range<Int>] = []
    private var parts: [Part] = []

    /// Adds a segment if its first ``headBytes`` mark it as XMP.
    mutating func add(_ body: Range<Int>, start: [UInt8]) {
        if start.starts(with: "http://ns.adobe.com/xap/1.0/\0") {
            if packets.count < Self.mostStandard { packets.append(body.dropFirst(29)) }
        } else if start.count == Self.headBytes, start.starts(with: "http://ns.adobe.com/xmp/extension/\0") {
            parts.append(
                Part(
                    packet: start[35..<67], whole: start[67..<71].number(), offset: start[71..<75].number(),
                    bytes: body.dropFirst(Self.headBytes)))
        }
    }

    /// The standard packets in the file's order, without their signatures.
    func standard(_ source: some ByteSource) throws(MediaError) -> [[UInt8]] {
        var found: [[UInt8]] = []
        for range in packets { found.append(try source.read(at: range.lowerBound, count: range.count)) }
        return found
    }

    /// The extended packet that standard ones announce; none unless it is all there.
    func extended(_ source: some ByteSource, announcedIn standard: [[UInt8]]) throws(MediaError) -> [[UInt8]] {
        guard !parts.isEmpty else { return [] }
        let notes = standard.lazy.map { XMPPacket.properties(of: "http://ns.adobe.com/xmp/note/", in: $0) }
        guard let name = notes.compactMap({ $0["HasExtendedXMP"] }).first else { return [] }
        let own = parts.filter { $0.packet.elementsEqual(name.utf8) }.sorted { $0.offset < $1.offset }
        guard let whole = own.first?.whole, whole <= Self.longestExtended else { return [] }
        var packet: [UInt8] = []
        for part in own where part.offset == packet.count && part.bytes.count <= whole - packet.count {
            packet += try source.read(at: part.bytes.lowerBound, count: part.bytes.count)
        }
        return packet.count == whole ? [packet] : []
    }
}

/// Collects the numbered APP2 segments of an ICC profile (ICC.1:2022, annex B.4).
struct ICCParts {
    private var parts: [Int: Range<Int>] = [:]
    private var total = 0

    /// Adds a segment if its first 14 bytes mark it as part of a profile.
    mutating func add(_ body: Range<Int>, start: [UInt8]) {
        guard start.count == 14, start.starts(with: "ICC_PROFILE\0"), start[12] >= 1 else { return }
        total = max(total, Int(start[13]))
        parts[Int(start[12])] = body.dropFirst(14)
    }

    /// The parts in order; empty unless all of them are there.
    var ranges: [Range<Int>] {
        let ranges = (1...max(total, 1)).compactMap { parts[$0] }
        return total > 0 && ranges.count == total ? ranges : []
    }
}
