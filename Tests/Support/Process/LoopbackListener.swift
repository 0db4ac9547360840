public import Glibc

/// A TCP socket that listens on loopback and hands each connection to a thread of its own.
public final class LoopbackListener: Sendable {
    /// The system gave no socket.
    public struct Unavailable: Error, Sendable {
        /// The system's error number.
        public let errno: Int32
    }

    private let descriptor: Int32
    /// Where it listens.
    public let port: UInt16

    /// Starts to listen; connections wait until ``start(_:)``, `backlog` and one more at most.
    ///
    /// - Throws: ``Unavailable`` when the system has no port left.
    public init(backlog: Int32 = 1024) throws(Unavailable) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = Self.address(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe bind(descriptor, pointer, length) == 0 && listen(descriptor, backlog) == 0
                    && getsockname(descriptor, pointer, &length) == 0
            }
        }
        guard isBound else { throw Unavailable(errno: Glibc.errno) }
        self.descriptor = descriptor
        port = UInt16(bigEndian: address.sin_port)
    }

    deinit { close(descriptor) }

    /// An address on loopback.
    public static func address(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    /// Accepts connections until ``stop()``; `serve` owns the descriptor that it is given.
    public func start(_ serve: @escaping @Sendable (Int32) -> Void) {
        BackgroundThread.start { [self] in
            while true {
                let connection = accept(descriptor, nil, nil)
                if connection < 0 { break }
                // A program that is started later would keep it open after it was closed here.
                _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
                BackgroundThread.start { serve(connection) }
            }
        }
    }

    /// Ends accepting.
    public func stop() { shutdown(descriptor, Int32(SHUT_RDWR)) }
}
