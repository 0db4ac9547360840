import CLinux
import Glibc

/// Many TCP connections to one loopback port, driven by one thread.
///
/// Its calls block: use it from ``BackgroundThread``.
public final class Crowd: Sendable {
    private let descriptors: [Int32]

    /// How many there are.
    public var count: Int { descriptors.count }

    /// Connects so many times, with small buffers so that the kernel holds little; fewer when the system allows no
    /// more.
    ///
    /// - Parameters:
    ///   - count: How many.
    ///   - port: Where to.
    ///   - source: Where from; nil for 127.0.0.1.
    public init(_ count: Int, port: UInt16, from source: LoopbackAddress? = nil) {
        Self.raiseDescriptorLimit()
        var descriptors: [Int32] = []
        for _ in 0..<count {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            if descriptor < 0 { break }
            _ = source?.bind(descriptor)
            var size: Int32 = 4096
            unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
            var limit = timeval(tv_sec: 120, tv_usec: 0)
            unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
            let isConnected = LoopbackAddress.server.connect(descriptor, port: port)
            if isConnected { descriptors.append(descriptor) } else { close(descriptor) }
        }
        self.descriptors = descriptors
    }

    deinit { for descriptor in descriptors { close(descriptor) } }

    /// Lets this process have as many connections as the system allows.
    public static func raiseDescriptorLimit() { _ = byteclub_raise_descriptor_limit() }

    /// Sends bytes on each; tells on how many all went out.
    public func send(_ bytes: [UInt8]) -> Int {
        descriptors.count { descriptor in
            unsafe Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
        }
    }

    /// Sends as many of the bytes on each as the kernel takes at once.
    public func push(_ bytes: [UInt8]) {
        for descriptor in descriptors {
            _ = unsafe Glibc.send(
                descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
        }
    }

    /// Ends both directions on each.
    public func hangUp() { for descriptor in descriptors { shutdown(descriptor, Int32(SHUT_RDWR)) } }

    /// Receives up to so many bytes from each, waiting for the first; what came, one text a connection.
    public func receive(upTo count: Int) -> [String] {
        var buffer = [UInt8](repeating: 0, count: count)
        return descriptors.map { descriptor in
            let received = unsafe recv(descriptor, &buffer, count, 0)
            return String(decoding: buffer.prefix(max(0, received)), as: UTF8.self)
        }
    }

    /// Takes up to so many bytes from each of those to which some have come; does not wait.
    public func look(upTo count: Int) -> [String] {
        var buffer = [UInt8](repeating: 0, count: count)
        return descriptors.compactMap { descriptor in
            let received = unsafe recv(descriptor, &buffer, count, Int32(MSG_DONTWAIT))
            return received > 0 ? String(decoding: buffer.prefix(received), as: UTF8.self) : nil
        }
    }
}
