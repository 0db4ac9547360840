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

    /// Whether traffic is by default through a mobile or tethered device.
    ///
    /// The preferred default route counts, of either IPv4 or IPv6. It reads a few small files of the kernel.
    static var isMobile: Bool {
        let routes = ["route", "ipv6_route"].map { text(of: "/proc/thread-self/net/\($0)") ?? "" }
        return preferredDevices(ipv4: routes[0], ipv6: routes[1]).contains { device in
            var buffer = [CChar](repeating: 0, count: 1024)
            let count = unsafe readlink("/sys/class/net/\(device)/device/driver", &buffer, buffer.count)
            let driver = String(decoding: buffer.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
            return isMobile(device, driver: driver, properties: text(of: "/sys/class/net/\(device)/uevent") ?? "")
        }
    }

    /// Whether a device is mobile or tethered, by its name, the path of its driver and its properties (uevent).
    static func isMobile(_ device: String, driver: String, properties: String) -> Bool {
        ["wwan", "ppp", "bnep"].contains(where: device.hasPrefix)
            || ["rndis_host", "ipheth"].contains(driver.split(separator: "/").last ?? "")
            || properties.split(separator: "\n").contains("DEVTYPE=wwan")
    }

    /// The devices of the default routes, from the texts of /proc/net/route and /proc/net/ipv6_route.
    static func defaultDevices(ipv4: String, ipv6: String) -> [String] {
        (ipv4Defaults(ipv4) + ipv6Defaults(ipv6)).map(\.device)
    }

    /// The devices of the default routes with the least metric of IPv4 and of IPv6, from the same texts.
    static func preferredDevices(ipv4: String, ipv6: String) -> Set<String> {
        let best = [ipv4Defaults(ipv4), ipv6Defaults(ipv6)].compactMap { $0.min { $0.metric < $1.metric } }
        return Set(best.map(\.device))
    }

    private typealias DefaultRoute = (device: String, metric: UInt32)

    private static func ipv4Defaults(_ text: String) -> [DefaultRoute] {
        text.split(separator: "\n").dropFirst().compactMap { line in
            let fields = words(line)
            // Device, destination, gateway, flags, two counters, metric, mask.
            guard fields.count >= 8, isZero(fields[1]), isZero(fields[7]), isUsable(fields[3]), isName(fields[0])
            else { return nil }
            return (String(fields[0]), UInt32(fields[6]) ?? .max)
        }
    }

    private static func ipv6Defaults(_ text: String) -> [DefaultRoute] {
        text.split(separator: "\n").compactMap { line in
            let fields = words(line)
            // Destination, its prefix, source, its prefix, next hop, metric, two counters, flags, device.
            guard fields.count >= 10, isZero(fields[0]), isZero(fields[1]), isUsable(fields[8]), isName(fields[9])
            else { return nil }
            return (String(fields[9]), UInt32(fields[5], radix: 16) ?? .max)
        }
    }

    private static func words(_ line: Substring) -> [Substring] { line.split { $0 == " " || $0 == "\t" } }

    /// RTF_UP without RTF_REJECT.
    private static func isUsable(_ flags: Substring) -> Bool {
        UInt32(flags, radix: 16).map { $0 & 0x1 != 0 && $0 & 0x200 == 0 } ?? false
    }

    private static func isZero(_ number: Substring) -> Bool { !number.isEmpty && number.allSatisfy { $0 == "0" } }

    private static func isName(_ device: Substring) -> Bool { !device.contains("/") && device != ".." }

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
