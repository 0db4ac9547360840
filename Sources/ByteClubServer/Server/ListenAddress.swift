import Glibc
import NIOCore

/// Where a server listens: a host and a port, as in `127.0.0.1:8080`, `localhost:0` and `[::1]:8080`.
struct ListenAddress: Hashable, Sendable {
    /// A name or an address, without brackets.
    let host: String
    /// The port; 0 lets the system choose.
    let port: Int

    /// Reads `HOST:PORT`; nil when the text is anything else.
    init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        var host = text[..<colon]
        if host.first == "[", host.last == "]" {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        if host.isEmpty { return nil }
        self.host = String(host)
        self.port = Int(port)
    }

    /// Whether only programs on this machine can reach it.
    var isLoopback: Bool {
        host == "localhost" || host == "::1" || (host.hasPrefix("127.") && host.utf8.allSatisfy(Self.isAddress))
    }

    private static func isAddress(_ byte: UInt8) -> Bool { byte == UInt8(ascii: ".") || (48...57).contains(byte) }

    /// What is said of a failure to listen here: one that the system or the resolver of names reports tells the address.
    func failure(_ error: any Error) -> any Error {
        let reason: String
        switch error {
        case let error as IOError where error.errnoCode == EADDRINUSE: reason = "the port is in use by another program"
        case let error as IOError: reason = unsafe String(cString: strerror(error.errnoCode))
        case is SocketAddressError, is SocketAddressError.UnknownHost: reason = "no such host"
        default: return error
        }
        return CommandFailure(.unavailable, "cannot listen on '\(authority(port: port))': \(reason)")
    }

    /// The URL's part between `//` and the path, with the port that was given in the end.
    func authority(port: Int) -> String { (host.contains(":") ? "[\(host)]" : host) + ":\(port)" }
}
