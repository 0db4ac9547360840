/// Addresses to connect to for a host and port, in place of those that name lookup gives.
///
/// Certificates are still checked against the host's name. Without effect where a proxy is used, which looks up names
/// itself.
public struct AddressOverride: Sendable, Hashable {
    /// The host as requests name it, in lower case.
    public let host: String

    /// The port as requests name it.
    public let port: Int

    /// IPv4 and IPv6 addresses, the latter without brackets.
    public let addresses: [String]

    /// Says where a host is; nil where host, port or an address is none, or there is no address.
    public init?(host: String, port: Int, addresses: [String]) {
        guard let origin = Origin(scheme: .https, authority: "\(host):\(port)"), !origin.host.hasPrefix("["),
            !addresses.isEmpty, addresses.allSatisfy(IPAddress.isOne)
        else { return nil }
        self.host = origin.host
        self.port = origin.port
        self.addresses = addresses
    }

    /// As libcurl takes it (CURLOPT_RESOLVE).
    var line: String {
        "\(host):\(port):" + addresses.map { $0.contains(":") ? "[\($0)]" : $0 }.joined(separator: ",")
    }
}
