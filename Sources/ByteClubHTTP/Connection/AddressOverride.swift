import Glibc

/// Addresses that replace name lookup for a host and port.
///
/// Certificates are still checked against the host's name. Overrides have no effect with a proxy, which looks up names
/// itself.
public struct AddressOverride: Sendable, Hashable {
    /// The host as requests name it, in lower case.
    public let host: String

    /// The port as requests name it.
    public let port: Int

    /// IPv4 and IPv6 addresses, the latter without brackets.
    public let addresses: [String]

    /// Creates an override; nil if the host, the port or an address is invalid, or there are no addresses.
    public init?(host: String, port: Int, addresses: [String]) {
        guard let origin = Origin(scheme: .https, authority: "\(host):\(port)"), !origin.host.hasPrefix("["),
            !addresses.isEmpty, addresses.allSatisfy({ IPAddress.bytes($0) != nil })
        else { return nil }
        self.host = origin.host
        self.port = origin.port
        self.addresses = addresses
    }

    /// The override in the format of CURLOPT_RESOLVE.
    var line: String {
        "\(host):\(port):" + addresses.map { $0.contains(":") ? "[\($0)]" : $0 }.joined(separator: ",")
    }
}

/// Parsing of IP addresses without brackets and zones.
enum IPAddress {
    /// The 4 or 16 bytes of an address; nil for other text.
    static func bytes(_ text: String) -> [UInt8]? {
        guard !text.utf8.contains(0) else { return nil }
        for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
            var bytes = [UInt8](repeating: 0, count: 16)
            if unsafe inet_pton(family, text, &bytes) == 1 { return Array(bytes.prefix(count)) }
        }
        return nil
    }
}
