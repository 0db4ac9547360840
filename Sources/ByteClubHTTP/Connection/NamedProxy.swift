/// A proxy that stands in a transfer's way, as people are told of it.
struct NamedProxy: CustomStringConvertible {
    /// HTTP's status of a proxy that wants to know who asks.
    static let authenticationRequired = 407

    /// The kinds of sign-in that a proxy may offer, by libcurl's bits.
    private static let kinds = [(1, "Basic"), (2, "Digest"), (4, "Negotiate"), (8, "NTLM")]

    private let server: ProxyServer
    private let variable: String?

    /// A proxy that a variable of the environment names, or a program.
    init(_ server: ProxyServer, by variable: String?) {
        self.server = server
        self.variable = variable
    }

    /// The proxy's address without secrets, and the variable.
    var description: String { "the proxy \(server)" + (variable.map { ", which \($0) names," } ?? "") }

    /// Why it does not let a transfer through.
    ///
    /// - Parameters:
    ///   - status: What it answered.
    ///   - offers: The kinds of sign-in that it takes, in libcurl's bits.
    /// - Returns: One part of a line for people.
    func refusal(_ status: Int, offers: Int) -> String {
        guard status == Self.authenticationRequired else { return "\(self) answered \(status)" }
        let kinds = Self.kinds.filter { offers & $0.0 != 0 }.map(\.1).joined(separator: ", ")
        let wish =
            server.user == nil ? "wants a user name and a password" : "does not take its user name and password"
        return "\(self) \(wish)" + (kinds.isEmpty ? "" : " (\(kinds))")
    }
}
