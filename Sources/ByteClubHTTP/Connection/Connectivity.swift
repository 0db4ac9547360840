import Glibc

/// Tells the lack of a network from other failures.
enum Connectivity {
    /// Whether an attempt failed because this machine has no network to the host or its proxy.
    ///
    /// A refused connection is an answer, and so is a name that a server does not know. Without a route the system
    /// refuses at once. The other codes also have causes outside this machine, such as a single host that is switched
    /// off, so they count only without a network.
    static func isMissing(_ problem: TransferError, hasNetwork: () -> Bool) -> Bool {
        switch problem.code {
        case .cannotConnect:
            switch problem.errno {
            case ENETUNREACH, ENETDOWN, ENONET: true
            case EHOSTUNREACH, EADDRNOTAVAIL: !hasNetwork()
            default: false
            }
        case .cannotResolveHost: !hasNetwork()
        case .timedOut: problem.phase == .resolve && !hasNetwork()
        default: false
        }
    }

    /// Whether there is a default route through a device that has a carrier.
    ///
    /// For the calling thread's network namespace. It reads a few small files of the kernel, which do not block.
    static var hasNetwork: Bool {
        let routes = ["route", "ipv6_route"].map { text(of: "/proc/thread-self/net/\($0)") }
        // Without these files nothing is known, and all is as if there were a network.
        guard let ipv4 = routes[0] else { return true }
        return defaultDevices(ipv4: ipv4, ipv6: routes[1] ?? "").contains { device in
            hasCarrier(text(of: "/sys/class/net/\(device)/operstate") ?? "unknown")
        }
    }

    /// The devices of the default routes, from the texts of /proc/net/route and /proc/net/ipv6_route.
    static func defaultDevices(ipv4: String, ipv6: String) -> [String] {
        func words(_ line: Substring) -> [Substring] { line.split { $0 == " " || $0 == "\t" } }
        func isUsable(_ flags: Substring) -> Bool {
            // RTF_UP without RTF_REJECT.
            UInt32(flags, radix: 16).map { $0 & 0x1 != 0 && $0 & 0x200 == 0 } ?? false
        }
        func isZero(_ number: Substring) -> Bool { !number.isEmpty && number.allSatisfy { $0 == "0" } }
        var devices: [String] = []
        for line in ipv4.split(separator: "\n").dropFirst() {
            let fields = words(line)
            // Device, destination, gateway, flags, three counters, mask.
            guard fields.count >= 8, isZero(fields[1]), isZero(fields[7]), isUsable(fields[3]) else { continue }
            devices.append(String(fields[0]))
        }
        for line in ipv6.split(separator: "\n") {
            let fields = words(line)
            // Destination, its prefix, source, its prefix, next hop, three counters, flags, device.
            guard fields.count >= 10, isZero(fields[0]), isZero(fields[1]), isUsable(fields[8]) else { continue }
            devices.append(String(fields[9]))
        }
        return devices.filter { !$0.contains("/") && $0 != ".." }
    }

    /// Whether a device in this state (operstate, RFC 2863) may carry packets.
    private static func hasCarrier(_ state: String) -> Bool {
        let state = state.split(whereSeparator: \.isWhitespace).first ?? ""
        return !["down", "lowerlayerdown", "notpresent", "dormant"].contains(state)
    }

    /// The start of a file; nil if it cannot be read.
    private static func text(of path: String) -> String? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while bytes.count < mostBytes {
            let count = unsafe read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            bytes += chunk[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let mostBytes = 256 << 10
}

/// When a transfer that waits for a network is tried again.
struct ConnectivityWait: Hashable {
    static let longestDelay: Duration = .seconds(60)
    /// The least pause between two attempts, since a change of the network is announced in several notices.
    static let leastPause: Duration = .milliseconds(100)

    private let firstDelay: Duration
    private var lastFailure: Moment
    /// The number of failures since the last change of the network.
    private var failures = 0
    private var hasChanged = false

    init(firstDelay: Duration, at now: Moment) {
        self.firstDelay = firstDelay
        lastFailure = now
    }

    /// Notes that an attempt failed; when the next one is due.
    mutating func failed(at now: Moment) -> Moment {
        lastFailure = now
        if hasChanged {
            hasChanged = false
            return now.advanced(by: Self.leastPause)
        }
        defer { failures += 1 }
        let longest = max(Self.longestDelay, firstDelay)
        return now.advanced(by: min(firstDelay * (1 << min(failures, 16)), longest))
    }

    /// Notes that the network has changed; when the next attempt is due, if none is under way.
    mutating func networkChanged(isTrying: Bool, at now: Moment) -> Moment {
        failures = 0
        hasChanged = isTrying
        return max(now, lastFailure.advanced(by: Self.leastPause))
    }
}
