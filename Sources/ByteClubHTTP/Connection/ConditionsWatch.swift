import CLibcurl
import Glibc
import Logging
import Synchronization

/// Where the conditions of the network are read.
struct ConditionsSource: Sendable {
    /// The addresses of the bus in the form of `DBUS_SYSTEM_BUS_ADDRESS`.
    var bus: String
    /// How long the bus may take for an answer.
    var patience: Duration = .seconds(10)
    /// The time between a failure of the bus and the next attempt.
    var pause: Duration = .seconds(60)
    /// The folder of the machine's power supplies.
    var powerFolder = "/sys/class/power_supply"
    /// How often power is read, where the machine has a battery.
    var powerInterval: Duration = .seconds(60)
    /// Runs first on the watch's thread.
    var threadPreparation: (@Sendable () -> Void)?
    var logger: Logger?

    /// This machine's.
    static var system: ConditionsSource {
        let address = unsafe getenv("DBUS_SYSTEM_BUS_ADDRESS").map { unsafe String(cString: $0) } ?? ""
        return ConditionsSource(bus: address.isEmpty ? "unix:path=/run/dbus/system_bus_socket" : address)
    }

    /// The path of the first Unix socket among addresses such as `unix:path=/a%20b,guid=0;tcp:host=c`.
    static func socketPath(in addresses: String) -> String? {
        for address in addresses.split(separator: ";") where address.hasPrefix("unix:") {
            for pair in address.dropFirst(5).split(separator: ",") where pair.hasPrefix("path=") {
                return String(percentDecoding: pair.dropFirst(5))
            }
        }
        return nil
    }
}

/// A thread that reports the conditions of the network, first the present ones, then each change.
///
/// It ends with ``stop()``, or when the watch is released.
final class ConditionsWatch: Sendable {
    private let bell: Bell?

    /// Starts the thread; `report` is called on it.
    init(_ source: ConditionsSource, report: @escaping @Sendable (NetworkConditions) -> Void) {
        let bell = Bell()
        self.bell = bell
        // Without a further descriptor or thread nothing is known, and everything is allowed.
        guard let bell else {
            report(NetworkConditions())
            return
        }
        do {
            try OwnThread.start {
                unsafe byteclub_name_thread("conditions")
                source.threadPreparation?()
                var loop = ConditionsLoop(source, bell: bell)
                loop.run { conditions in
                    report(conditions)
                    return true
                }
            }
        } catch {
            source.logger?.warning("the network's conditions cannot be watched: \(error)")
            report(NetworkConditions())
        }
    }

    deinit { stop() }

    func stop() { bell?.ring() }

    /// A descriptor that is readable once it was rung.
    final class Bell: Sendable {
        let descriptor: Int32

        init?() {
            descriptor = byteclub_eventfd()
            if descriptor < 0 { return nil }
        }

        deinit { if descriptor >= 0 { close(descriptor) } }

        func ring() {
            var one: UInt64 = 1
            _ = unsafe write(descriptor, &one, 8)
        }
    }
}

/// Reads the conditions on one thread: the bus, the routes and the power supplies.
struct ConditionsLoop {
    private let source: ConditionsSource
    private let bell: ConditionsWatch.Bell?
    private let network = NetworkWatch()
    private var bus: BusConnection?
    /// When the bus is tried again after a failure.
    private var nextBus = Moment.now
    /// Whether it is tried again by itself; a bus that was never there is, when the network changes.
    private var retriesBus = false
    /// Whether a connection to the bus succeeded.
    private var wasThere = false
    /// What the bus answered before it was lost, which holds until the next attempt to ask it.
    private var lastCost = BusClient.Cost.unknown
    private var hasWarned = false
    private var last: NetworkConditions?
    private var buffer = [UInt8](repeating: 0, count: 4096)

    init(_ source: ConditionsSource, bell: ConditionsWatch.Bell?) {
        self.source = source
        self.bell = bell
    }

    /// Reports until `report` returns false or the bell rings.
    mutating func run(_ report: (NetworkConditions) -> Bool) {
        connect()
        while true {
            // While the bus owes an answer, nothing that it says is up to date.
            var hasBattery = true
            if bus?.deadline == nil {
                let power = PowerSupplies(source.powerFolder)
                hasBattery = power.hasBattery
                let conditions = conditions(isOnBattery: power.isOnBattery)
                if conditions != last, !report(conditions) { return }
                last = conditions
            }
            let next = bus?.deadline ?? (retriesBus ? nextBus : .distantFuture)
            if !sleep(until: min(next, powerCheck(hasBattery))) { return }
        }
    }

    private func powerCheck(_ hasBattery: Bool) -> Moment {
        hasBattery && bus?.deadline == nil ? .fine.advanced(by: source.powerInterval) : .distantFuture
    }

    private func conditions(isOnBattery: Bool) -> NetworkConditions {
        var conditions = NetworkConditions(hasNetwork: Connectivity.hasNetwork, isOnBattery: isOnBattery)
        switch bus?.cost ?? lastCost {
        case .yes: (conditions.isMetered, conditions.isConstrained) = (true, true)
        case .guessYes: conditions.isMetered = true
        case .no, .guessNo: break
        case .unknown: conditions.isMetered = Connectivity.isMobile
        }
        return conditions
    }

    /// Waits for news; false when the bell rings.
    private mutating func sleep(until time: Moment) -> Bool {
        var entries = [
            pollfd(fd: bell?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
            pollfd(fd: network?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
            pollfd(fd: bus?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        let wait = time == .distantFuture ? -1 : Int32(Moment.fine.duration(to: time).wholeMilliseconds)
        guard unsafe poll(&entries, nfds_t(entries.count), wait) >= 0 else { return true }
        let news = entries.map(\.revents)
        if news[0] != 0 { return false }
        if news[1] != 0 { heardNetwork() }
        if news[2] != 0 { talk { bus throws(BusFailure) in try bus.receive() } }
        if let deadline = bus?.deadline, deadline <= .fine { drop(BusFailure("it does not answer")) }
        if retriesBus { connect() }
        return true
    }

    private mutating func heardNetwork() {
        unsafe buffer.withUnsafeMutableBytes { unsafe network?.drain(with: $0) }
        if bus == nil { connect() } else { talk { bus throws(BusFailure) in try bus.ask() } }
    }

    private mutating func connect() {
        guard Moment.fine >= nextBus, let path = ConditionsSource.socketPath(in: source.bus) else { return }
        retriesBus = false
        do throws(BusFailure) {
            bus = try BusConnection(path, patience: source.patience)
            wasThere = true
        } catch { drop(error) }
    }

    private mutating func talk(_ body: (BusConnection) throws(BusFailure) -> Void) {
        guard let bus else { return }
        do throws(BusFailure) { try body(bus) } catch { drop(error) }
    }

    private mutating func drop(_ failure: BusFailure) {
        // A bus that fails before its first answer counts as none: the default route decides.
        lastCost = bus?.cost ?? .unknown
        bus = nil
        retriesBus = failure != .isMissing || wasThere
        nextBus = .fine.advanced(by: source.pause)
        if hasWarned { return }
        hasWarned = true
        let line = "the system's bus cannot be asked about the network: \(failure.reason)"
        // Many machines have none.
        source.logger?.log(level: failure == .isMissing ? .debug : .warning, "\(line)")
    }
}

extension BusFailure {
    static let isMissing = BusFailure("there is none")
}

/// A connection to the system's bus that never blocks.
final class BusConnection {
    let descriptor: Int32
    /// When the answer that the bus owes is due; nil if it owes none.
    private(set) var deadline: Moment?
    private var client = BusClient()
    private let patience: Duration
    /// The bytes received since a time, of which a bus that only answers sends few.
    private var received = (count: 0, since: Moment.fine)
    private var chunk = [UInt8](repeating: 0, count: 4096)

    private static let mostBytes = 1 << 20
    private static let span: Duration = .seconds(10)

    init(_ path: String, patience: Duration) throws(BusFailure) {
        self.patience = patience
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        guard let address = try? UnixAddress(path) else { throw BusFailure("its address is no path of a socket") }
        descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { throw BusFailure(systemMessage(errno)) }
        guard unsafe address.withPointer({ unsafe Glibc.connect(descriptor, $0, $1) }) == 0 else {
            throw errno == ENOENT ? .isMissing : BusFailure(systemMessage(errno))
        }
        deadline = .fine.advanced(by: patience)
        try send(BusClient.opening(user: geteuid()))
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    var cost: BusClient.Cost { client.cost }

    /// Receives what has come, and asks on.
    func receive() throws(BusFailure) {
        let count = unsafe recv(descriptor, &chunk, chunk.count, 0)
        if count == 0 { throw BusFailure("it closed the connection") }
        if count < 0 {
            if errno == EAGAIN || errno == EINTR { return }
            throw BusFailure(systemMessage(errno))
        }
        let now = Moment.fine
        if received.since.advanced(by: Self.span) < now { received = (0, now) }
        received.count += count
        guard received.count <= Self.mostBytes else { throw BusFailure("it sends too much") }
        try send(try client.receive(chunk[..<count]))
        noteDeadline()
    }

    /// Asks again.
    func ask() throws(BusFailure) {
        try send(client.ask())
        noteDeadline()
    }

    private func noteDeadline() {
        deadline = client.isWaiting ? deadline ?? .fine.advanced(by: patience) : nil
    }

    private func send(_ bytes: [UInt8]) throws(BusFailure) {
        if bytes.isEmpty { return }
        let count = unsafe bytes.withUnsafeBytes {
            unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
        }
        // The few bytes always fit into the buffer of a socket whose other end reads.
        guard count == bytes.count else { throw BusFailure(count < 0 ? systemMessage(errno) : "it does not read") }
    }
}
