import HTTPTypes

/// One step of a request through a proxy, from `Forwarded` (RFC 7239) or the older `X-Forwarded-…` headers.
struct ForwardedHop: Hashable, Sendable {
    /// Where the proxy got the request from; nil when it does not say or hides it.
    var address: IPAddress?
    /// `http` or `https`, when the proxy says it.
    var scheme: String?
    /// The host that was asked for, when the proxy says it.
    var host: String?

    /// The steps in the order they were taken.
    static func hops(in headers: HTTPFields) -> [ForwardedHop] {
        var hops = elements(headers[values: .forwardedFor]).map { ForwardedHop(address: address(in: $0)) }
        // A proxy that writes the older headers hands on a `Forwarded` of the client's own making.
        let forwarded = elements(headers[values: .forwarded])
        if hops.isEmpty, !forwarded.isEmpty { return forwarded.map(ForwardedHop.init(element:)) }
        if hops.isEmpty { hops = [ForwardedHop()] }
        // One proxy writes one value of these; with several, the last belongs to the last proxy.
        let scheme = elements(headers[values: .forwardedProto]).last.flatMap { Self.scheme($0) }
        let host = elements(headers[values: .forwardedHost]).last.flatMap { Self.host($0) }
        for index in hops.indices {
            hops[index].scheme = scheme
            hops[index].host = host
        }
        return hops
    }

    private init(address: IPAddress? = nil) {
        self.address = address
    }

    private init(element: Substring) {
        let values = HeaderParameters(";" + element)
        address = values["for"].flatMap { Self.address(in: $0) }
        scheme = values["proto"].flatMap { Self.scheme($0) }
        host = values["host"].flatMap { Self.host($0) }
    }

    private static func elements(_ values: [String]) -> [Substring] {
        values.flatMap { value in
            var isQuoted = false
            let parts = value.split { character in
                if character == "\"" { isQuoted.toggle() }
                return character == "," && !isQuoted
            }
            return parts.map { part in
                let start = part.drop { $0 == " " || $0 == "\t" }
                return start.prefix(start.count - start.reversed().prefix { $0 == " " || $0 == "\t" }.count)
            }.filter { !$0.isEmpty }
        }
    }

    /// `203.0.113.7`, `203.0.113.7:1234`, `2001:db8::1`, `[2001:db8::1]` and `[2001:db8::1]:1234`.
    private static func address(in text: some StringProtocol) -> IPAddress? {
        if let address = IPAddress(text) { return address }
        guard let colon = text.lastIndex(of: ":"), UInt16(text[text.index(after: colon)...]) != nil else { return nil }
        return IPAddress(text[..<colon])
    }

    private static func scheme(_ text: some StringProtocol) -> String? {
        let scheme = text.lowercased()
        return scheme == "http" || scheme == "https" ? scheme : nil
    }

    private static func host(_ text: some StringProtocol) -> String? {
        let isHost = !text.isEmpty && text.utf8.count <= 255 && text.utf8.allSatisfy(isHostByte)
        return isHost ? String(text) : nil
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: "-._:[]".utf8.contains(byte)
        }
    }
}

extension HTTPField.Name {
    static let forwarded = known("Forwarded")
    static let forwardedFor = known("X-Forwarded-For")
    static let forwardedProto = known("X-Forwarded-Proto")
    static let forwardedHost = known("X-Forwarded-Host")
}
