import Glibc

extension ChaosAnswer {
    /// Sends a file, a part of it, or something that a client must not take for either.
    mutating func sendFile() -> ChaosServer.Next {
        guard let file = Int(inner.dropFirst(6)), (0..<Contents.files).contains(file) else {
            return peer.respond(404, "none") ? .keep : .close
        }
        if hasBody { return .reset }
        if random.one(in: 8) { server.versions.change(file) }
        let contents = server.versions.contents(of: file)
        var fields = validators(of: contents) + cookie
        let hasTag = fields.contains { $0 == "ETag: \(contents.tag)" }
        if request["if-none-match"]?.contains(contents.tag) == true, hasTag {
            return peer.send("HTTP/1.1 304 X\r\nETag: \(contents.tag)\r\n\r\n") ? .keep : .close
        }
        fields.append(
            random.pick(["Cache-Control: max-age=1", "Cache-Control: max-age=60", "Cache-Control: no-store", "X-No: 1"])
        )
        guard let range = request["range"], range.hasPrefix("bytes="),
            let start = Int(range.dropFirst(6).prefix { $0 != "-" })
        else {
            return sendBody(200, contents.all, fields: fields, mayCompress: true)
        }
        server.ledger.fault("range")
        let condition = request["if-range"]
        let isSame = condition == nil || condition == contents.tag || condition == contents.date
        guard isSame, !random.one(in: 5) else {
            return sendBody(200, contents.all, fields: fields, mayCompress: false)
        }
        return sendPart(of: contents, from: start, fields)
    }

    /// What a client may know the file by: all, little or nothing.
    private mutating func validators(of contents: Contents) -> [String] {
        let now = "Date: \(Contents.date(Int(time(nil))))"
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return [now]
        case 1: return [now, "ETag: W/\(contents.tag)"]
        case 2: return [now, "Last-Modified: \(contents.date)"]
        case 3: return [now, "ETag: \(contents.tag)", "Accept-Ranges: none"]
        default: return [now, "ETag: \(contents.tag)", "Last-Modified: \(contents.date)", "Accept-Ranges: bytes"]
        }
    }

    private mutating func sendPart(of contents: Contents, from start: Int, _ fields: [String]) -> ChaosServer.Next {
        let length = contents.length
        let strict =
            fields.filter { !$0.hasPrefix("ETag:") && !$0.hasPrefix("Last-Modified:") }
            + ["ETag: \(contents.tag)", "Last-Modified: \(contents.date)"]
        func part(_ range: Range<Int>, total: String) -> [String] {
            ["Content-Range: bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total)"]
        }
        guard start < length else {
            let total = random.one(in: 3) ? length + 1 : length
            return peer.respond(416, "", fields: strict + ["Content-Range: bytes */\(total)"]) ? .keep : .close
        }
        let lie = Int.random(in: 0..<20, using: &random)
        if lie < 9 { server.ledger.fault("part \(lie)") }
        switch lie {
        case 0:  // Another start, and the bytes that belong there.
            let other = Int.random(in: 0..<length, using: &random)
            return sendBody(
                206, contents.bytes(other..<length), fields: strict + part(other..<length, total: "\(length)"),
                mayCompress: false)
        case 1:  // Another version, and its validator.
            let other = Contents(file: contents.file, version: contents.version + 1_000_000)
            guard start < other.length else { return .close }
            let fields =
                strict.filter { !$0.hasPrefix("ETag:") && !$0.hasPrefix("Last-Modified:") }
                + ["ETag: \(other.tag)", "Last-Modified: \(other.date)"]
            return sendBody(
                206, other.bytes(start..<other.length),
                fields: fields + part(start..<other.length, total: "\(other.length)"), mayCompress: false)
        case 2:  // Several parts.
            return sendBody(
                206, contents.bytes(start..<length),
                fields: strict + ["Content-Type: multipart/byteranges; boundary=x"], mayCompress: false)
        case 3:  // No word about which part it is.
            return sendBody(206, contents.bytes(start..<length), fields: strict, mayCompress: false)
        case 4:  // Another total.
            return sendBody(
                206, contents.bytes(start..<length), fields: strict + part(start..<length, total: "\(length + 5)"),
                mayCompress: false)
        case 5:  // Less than the rest, and it says so.
            let end = Int.random(in: (start + 1)...length, using: &random)
            return sendBody(
                206, contents.bytes(start..<end), fields: strict + part(start..<end, total: "\(length)"),
                mayCompress: false)
        case 6:  // Compressed.
            return sendBody(
                206, Gzip.stored(contents.bytes(start..<length)),
                fields: strict + part(start..<length, total: "\(length)") + ["Content-Encoding: gzip"],
                mayCompress: false)
        case 7: return peer.respond(416, "", fields: strict + ["Content-Range: bytes */\(start + 1)"]) ? .keep : .close
        case 8:  // From the start on.
            return sendBody(
                206, contents.all, fields: strict + part(0..<length, total: "\(length)"), mayCompress: false)
        default:
            return sendBody(
                206, contents.bytes(start..<length),
                fields: strict + part(start..<length, total: random.one(in: 5) ? "*" : "\(length)"), mayCompress: false)
        }
    }
}

/// Bytes in the format of gzip (RFC 1952), as they are.
enum Gzip {
    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
    }

    static func stored(_ bytes: [UInt8]) -> [UInt8] {
        var packed: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255]
        var offset = 0
        repeat {
            let count = min(bytes.count - offset, 65_535)
            packed.append(offset + count == bytes.count ? 1 : 0)
            packed += [UInt8(count & 255), UInt8(count >> 8), UInt8(~count & 255), UInt8(~count >> 8 & 255)]
            packed += bytes[offset..<(offset + count)]
            offset += count
        } while offset < bytes.count
        var sum = ~UInt32(0)
        // Read once: under the thread sanitizer each use of a static constant takes a lock, for which connections queue.
        let table = table
        for byte in bytes { sum = table[Int((sum ^ UInt32(byte)) & 255)] ^ (sum >> 8) }
        for value in [~sum, UInt32(truncatingIfNeeded: bytes.count)] {
            for shift in 0..<4 { packed.append(UInt8(truncatingIfNeeded: value >> UInt32(shift * 8))) }
        }
        return packed
    }
}
