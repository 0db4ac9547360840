import Glibc
import Synchronization

/// A network of its own with nothing but loopback, whose address a test takes away and gives back; needs root.
public final class NetworkNamespace: Sendable {
    /// The namespace, which lives as long as this descriptor.
    private let descriptor: Int32
    /// A socket in it, through which the address is changed.
    private let control: Int32

    /// Whether the system allows it.
    public static var isPossible: Bool { getuid() == 0 && NetworkNamespace() != nil }

    /// Creates the namespace on a thread that ends with this; blocks for that long.
    public init?() {
        guard let ends = try? NetworkNamespace.onThread({ NetworkNamespace.open() }), ends.count == 2 else {
            return nil
        }
        (descriptor, control) = (ends[0], ends[1])
    }

    deinit {
        close(control)
        close(descriptor)
    }

    /// The namespace's file for nsenter(1), which runs a program in it.
    public var path: String { "/proc/\(getpid())/fd/\(descriptor)" }

    /// Moves the calling thread into the namespace.
    public func enter() { _ = Self.call("setns", descriptor, Int32(0x4000_0000)) }

    /// Runs a body on a thread in the namespace.
    public func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) throws -> Value {
        try Self.onThread {
            self.enter()
            return try body()
        }
    }

    /// Without an address there is no route to loopback, and connecting fails with ENETUNREACH.
    public func takeAddress() { setAddress(0) }

    /// Gives the address back, which the system announces.
    public func giveAddress() { setAddress(0x7F00_0001) }

    private func setAddress(_ address: UInt32) {
        // struct ifreq: the name, then struct sockaddr_in.
        var request = Self.request
        request[16] = UInt8(AF_INET)
        for index in 0..<4 { request[20 + index] = UInt8(truncatingIfNeeded: address >> (24 - 8 * index)) }
        // SIOCSIFADDR.
        _ = unsafe ioctl(control, 0x8916, &request)
    }

    private static var request: [UInt8] {
        var request = [UInt8](repeating: 0, count: 40)
        request.replaceSubrange(0..<2, with: Array("lo".utf8))
        return request
    }

    /// Moves the calling thread into a new namespace.
    ///
    /// - Returns: The descriptors of the namespace and of a socket in it; empty where the system does not allow that.
    private static func open() -> [Int32] {
        guard call("unshare", Int32(0x4000_0000)) == 0 else { return [] }
        let descriptor = unsafe Glibc.open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)
        let control = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0, control >= 0 else { return [] }
        // SIOCSIFFLAGS with IFF_UP.
        var request = Self.request
        request[16] = 1
        guard unsafe ioctl(control, 0x8914, &request) == 0 else { return [] }
        return [descriptor, control]
    }

    /// Calls a function that Glibc's header has for GNU programs only.
    private static func call(_ name: String, _ numbers: Int32...) -> Int32 {
        guard let symbol = unsafe dlsym(nil, name), let first = numbers.first else { return -1 }
        typealias Function = @convention(c) (Int32, Int32) -> Int32
        // unshare(2) has one argument; another in a register is ignored.
        return unsafe unsafeBitCast(symbol, to: Function.self)(first, numbers.dropFirst().first ?? 0)
    }

    private static func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) throws -> Value {
        let outcome = Outcome<Value>()
        BackgroundThread.start {
            let result = Result { try body() }
            outcome.result.withLock { $0 = result }
            outcome.changed.tell()
        }
        return try outcome.changed.wait { outcome.result.withLock { $0 } }.get()
    }

    /// What a thread returns.
    private final class Outcome<Value: Sendable>: Sendable {
        let result = Mutex<Result<Value, any Error>?>(nil)
        let changed = Changed()
    }
}
