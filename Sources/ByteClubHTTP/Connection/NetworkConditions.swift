/// The properties of the machine's network and power that tasks may depend on.
///
/// The cost of the network is NetworkManager's `Metered`, over the system bus (`DBUS_SYSTEM_BUS_ADDRESS`). Where
/// NetworkManager does not run or does not know, and from a minute after the bus was lost, a network is metered if its
/// default route is through a mobile or tethered device: `wwan`, `ppp`, `bnep`, or a USB device of the drivers
/// `rndis_host` or `ipheth`. Another tunnel's device, such as a VPN's, is not. systemd-networkd has no such property.
public struct NetworkConditions: Sendable, Hashable {
    /// Whether there is a default route through a device with a carrier.
    public var hasNetwork: Bool

    /// Whether data may cost money or be limited: `Metered` is `yes` or `guess-yes`.
    public var isMetered: Bool

    /// Whether the user has declared this network to be metered: `Metered` is `yes`, which is never a guess.
    ///
    /// Linux has no low data mode; this setting of a connection is the only one with which a user asks for it.
    public var isConstrained: Bool

    /// Whether the machine runs on its battery: one discharges, and no other supply is online.
    ///
    /// It is read from the kernel (`/sys/class/power_supply`); batteries of peripherals do not count.
    public var isOnBattery: Bool

    /// Conditions; by default those under which everything is allowed.
    public init(
        hasNetwork: Bool = true, isMetered: Bool = false, isConstrained: Bool = false, isOnBattery: Bool = false
    ) {
        self.hasNetwork = hasNetwork
        self.isMetered = isMetered
        self.isConstrained = isConstrained
        self.isOnBattery = isOnBattery
    }

    /// The present conditions.
    ///
    /// The bus has 10 seconds to answer; then the default route decides.
    public static func current() async -> NetworkConditions {
        await OwnThread.run {
            var present = NetworkConditions()
            var loop = ConditionsLoop(.system, bell: nil)
            loop.run { conditions in
                present = conditions
                return false
            }
            return present
        }
    }

    /// The conditions, now and after each change; the latest ones if the reader is slow.
    ///
    /// Changes of the network are announced by the system. A change of power alone is found within a minute.
    public static var changes: AsyncStream<NetworkConditions> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let watch = ConditionsWatch(.system) { continuation.yield($0) }
            continuation.onTermination = { _ in watch.stop() }
        }
    }

    /// Why a task must not use the network at present.
    public enum Obstacle: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
        /// The network is metered.
        case metered
        /// The network is constrained.
        case constrained
        /// The machine runs on its battery, and the task is discretionary.
        case battery

        /// The obstacle, for people.
        public var description: String {
            switch self {
            case .metered: "the network is metered"
            case .constrained: "the network is constrained"
            case .battery: "the machine runs on its battery"
            }
        }
    }
}

/// The conditions that a task requires.
struct NetworkRules: Sendable, Hashable {
    var allowsMetered = true
    var allowsConstrained = true
    var isDiscretionary = false

    /// Whether the conditions matter at all.
    var isRestrictive: Bool { !allowsMetered || !allowsConstrained || isDiscretionary }

    /// Why a task must not use the network; nil if it may.
    ///
    /// The battery does not matter to a task that is under way.
    func obstacle(in conditions: NetworkConditions, isUnderWay: Bool = false) -> NetworkConditions.Obstacle? {
        if conditions.isMetered, !allowsMetered || isDiscretionary { return .metered }
        if conditions.isConstrained, !allowsConstrained { return .constrained }
        if conditions.isOnBattery, isDiscretionary, !isUnderWay { return .battery }
        return nil
    }
}

extension NetworkRules {
    /// The rules of a session; nil if its requests go to a Unix socket, so that they use no network.
    init?(_ configuration: SessionConfiguration) {
        guard configuration.unixSocketPath == nil else { return nil }
        allowsMetered = configuration.allowsMetered
        allowsConstrained = configuration.allowsConstrained
        isDiscretionary = configuration.isDiscretionary
    }

    /// The rules of a task in a session with these rules.
    func overridden(by options: TaskOptions) -> NetworkRules {
        NetworkRules(
            allowsMetered: options.allowsMetered ?? allowsMetered,
            allowsConstrained: options.allowsConstrained ?? allowsConstrained,
            isDiscretionary: options.isDiscretionary ?? isDiscretionary)
    }

    /// The rules of a task in a session with this configuration.
    init(_ options: TaskOptions, _ configuration: SessionConfiguration) {
        self = NetworkRules(configuration)?.overridden(by: options) ?? NetworkRules()
    }

    /// The rules of a background task.
    init(_ options: BackgroundOptions) {
        allowsMetered = options.allowsMetered
        allowsConstrained = options.allowsConstrained
        isDiscretionary = options.isDiscretionary
    }
}
