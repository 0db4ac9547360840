import TestSupport
import Testing

@testable import ByteClubHTTP

struct BusTests {
    private static let hello: [UInt8] =
        Array("l\u{1}\u{2}\u{1}\0\0\0\0\u{1}\0\0\0m\0\0\0".utf8)
        + Array("\u{1}\u{1}o\0\u{15}\0\0\0/org/freedesktop/DBus\0\0\0".utf8)
        + Array("\u{2}\u{1}s\0\u{14}\0\0\0org.freedesktop.DBus\0\0\0\0".utf8)
        + Array("\u{3}\u{1}s\0\u{5}\0\0\0Hello\0\0\0".utf8)
        + Array("\u{6}\u{1}s\0\u{14}\0\0\0org.freedesktop.DBus\0\0\0\0".utf8)

    /// A message of each field.
    private static func random(_ random: inout SeededGenerator) -> BusMessage {
        let kinds: [BusMessage.Kind] = [.call, .reply, .error, .signal]
        let texts = ["", "a", "/org/freedesktop/NetworkManager", String(repeating: "ü", count: 100)]
        func text() -> String? { Bool.random(using: &random) ? texts.randomElement(using: &random) : nil }
        var message = BusMessage(kinds.randomElement(using: &random) ?? .call, serial: .random(in: 1 ... .max))
        message.flags = .random(in: 0...7, using: &random)
        (message.path, message.interface, message.member) = (text(), text(), text())
        (message.errorName, message.destination) = (text(), text())
        message.replySerial = Bool.random(using: &random) ? .random(in: 0 ... .max, using: &random) : nil
        if Bool.random(using: &random) { message.signature = "v" }
        message.body = (0..<Int.random(in: 0...40, using: &random)).map { _ in .random(in: 0 ... .max, using: &random) }
        return message
    }

    @Test("a call is encoded as the specification describes, and every message is read as it was written")
    func messages() throws {
        let call = BusMessage(
            call: "Hello", of: "org.freedesktop.DBus", at: "/org/freedesktop/DBus", "org.freedesktop.DBus", serial: 1)
        #expect(call.encoded == Self.hello)
        let seed = UInt64.random(in: 0 ... .max)
        print("bus messages: seed \(seed)")
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let message = Self.random(&random)
            let bytes = message.encoded
            #expect(try BusMessage.length(of: bytes[...]) == bytes.count, "seed \(seed)")
            #expect(try BusMessage(bytes[...]) == message, "seed \(seed)")
        }
    }

    @Test("cut, changed or random bytes are refused or read, and never trap")
    func damage() throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("damaged bus messages: seed \(seed)")
        var random = SeededGenerator(seed: seed)
        for _ in 0..<100 {
            let bytes = Self.random(&random).encoded
            for count in bytes.indices {
                #expect(throws: BusFailure.self, "seed \(seed)") { try BusMessage(bytes[..<count]) }
            }
            for index in bytes.indices {
                var changed = bytes
                changed[index] = .random(in: 0 ... .max, using: &random)
                _ = try? BusMessage(changed[...])
                var client = BusClient()
                _ = try? client.receive(Array("OK 0\r\n".utf8)[...])
                _ = try? client.receive(changed[...])
            }
        }
        let long: [UInt8] = Array("l\u{2}\0\u{1}".utf8) + [0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0]
        #expect(throws: BusFailure("it sends a message of 65552 bytes")) { try BusMessage.length(of: long[...]) }
        #expect(throws: BusFailure.isInvalid) { try BusMessage.length(of: Array(repeating: 0xFF, count: 16)[...]) }
    }

    /// A client that is logged in and greeted, and has asked.
    private static func asking() throws -> BusClient {
        var client = BusClient()
        _ = try client.receive(Array("OK 0\r\n".utf8)[...])
        for serial: UInt32 in 1...3 { _ = try client.receive(reply(to: serial).encoded[...]) }
        return client
    }

    private static func reply(to serial: UInt32, metered: UInt32? = nil) -> BusMessage {
        var reply = BusMessage(.reply, serial: 9)
        reply.replySerial = serial
        guard let metered else { return reply }
        reply.signature = "v"
        var body = BusWriter()
        body.put(signature: "u")
        body.put(metered)
        reply.body = body.bytes
        return reply
    }

    @Test("a client logs in, greets, listens for changes and asks, byte by byte as well")
    func conversation() throws {
        #expect(BusClient.opening(user: 1000) == Array("\0AUTH EXTERNAL 31303030\r\n".utf8))
        var client = BusClient()
        for byte in Array("OK 0123\r".utf8) { #expect(try client.receive([byte]).isEmpty) }
        #expect(try client.receive([UInt8(ascii: "\n")]) == Array("BEGIN\r\n".utf8) + Self.hello)
        var sent: [UInt8] = []
        for byte in Self.reply(to: 1).encoded { sent += try client.receive([byte]) }
        var members: [String] = []
        while let length = try BusMessage.length(of: sent[...]), length <= sent.count {
            let message = try BusMessage(sent[..<length])
            #expect(message.flags == BusMessage.noAutoStart)
            members.append(message.member ?? "")
            sent.removeSubrange(..<length)
        }
        #expect(members == ["AddMatch", "AddMatch", "Get"] && sent.isEmpty)
        for serial: UInt32 in 2...3 { #expect(try client.receive(Self.reply(to: serial).encoded[...]).isEmpty) }
        #expect(client.isWaiting && client.cost == .unknown)
        _ = try client.receive(Self.reply(to: 4, metered: 3).encoded[...])
        #expect(!client.isWaiting && client.cost == .guessYes)
    }

    @Test("a notice during a question has one more asked, and an unknown answer is no cost")
    func notices() throws {
        var client = try Self.asking()
        var notice = BusMessage(.signal, serial: 5)
        (notice.interface, notice.member) = (BusClient.properties, "PropertiesChanged")
        for _ in 0..<3 { #expect(try client.receive(notice.encoded[...]).isEmpty) }
        let again = try client.receive(Self.reply(to: 4, metered: 1).encoded[...])
        #expect(client.cost == .yes && client.isWaiting && !again.isEmpty)
        #expect(try client.receive(Self.reply(to: 5, metered: 99).encoded[...]).isEmpty)
        #expect(client.cost == .unknown && !client.isWaiting)
        notice.member = "NameAcquired"
        #expect(try client.receive(notice.encoded[...]).isEmpty)
        (notice.interface, notice.member) = ("org.freedesktop.DBus", "NameOwnerChanged")
        #expect(try !client.receive(notice.encoded[...]).isEmpty && client.isWaiting)
        // NetworkManager has gone.
        var error = Self.reply(to: 6)
        error.kind = .error
        _ = try client.receive(error.encoded[...])
        #expect(client.cost == .unknown && !client.isWaiting)
    }

    @Test("a bus that refuses or breaks the rules is given up")
    func refusals() throws {
        for line in ["REJECTED EXTERNAL\r\n", "ERROR\n", String(repeating: "x", count: 2000)] {
            var client = BusClient()
            #expect(throws: BusFailure.self, "\(line.prefix(20))") { try client.receive(Array(line.utf8)[...]) }
        }
        var answer = Self.reply(to: 4, metered: 1)
        for signature in ["", "u", "s", "vv"] {
            answer.signature = signature
            var client = try Self.asking()
            #expect(throws: BusFailure.self, "\(signature)") { try client.receive(answer.encoded[...]) }
        }
        var client = try Self.asking()
        // Answers to questions that were never asked do not matter.
        _ = try client.receive(Self.reply(to: 77, metered: 1).encoded[...])
        #expect(client.isWaiting && client.cost == .unknown)
    }

    @Test("the path of the bus's socket is found among its addresses")
    func addresses() {
        let cases: [(String, String?)] = [
            ("unix:path=/run/dbus/system_bus_socket", "/run/dbus/system_bus_socket"),
            ("tcp:host=a,port=1;unix:guid=0,path=/a%20b%2fc;unix:path=/d", "/a b/c"),
            ("unix:abstract=/a", nil), ("unix:path=%2", nil), ("unix:path=%zz", nil), ("unix:path=%ff", nil),
            ("unix:path=/a%+1", nil), ("unix:path=/a%00", nil),
            ("autolaunch:", nil), (";;", nil), ("", nil),
        ]
        for (text, path) in cases { #expect(ConditionsSource.socketPath(in: text) == path, "\(text)") }
    }
}

struct NetworkConditionsTests {
    @Test("each rule names the first condition that it does not allow")
    func rules() {
        let metered = NetworkConditions(isMetered: true)
        let explicit = NetworkConditions(isMetered: true, isConstrained: true)
        let battery = NetworkConditions(isOnBattery: true)
        typealias Obstacle = NetworkConditions.Obstacle
        let cases: [(NetworkRules, NetworkConditions, Obstacle?, underWay: Obstacle?)] = [
            (NetworkRules(), explicit, nil, nil), (NetworkRules(), battery, nil, nil),
            (NetworkRules(allowsMetered: false), NetworkConditions(), nil, nil),
            (NetworkRules(allowsMetered: false), metered, .metered, .metered),
            (NetworkRules(allowsMetered: false), battery, nil, nil),
            (NetworkRules(allowsConstrained: false), metered, nil, nil),
            (NetworkRules(allowsConstrained: false), explicit, .constrained, .constrained),
            (NetworkRules(isDiscretionary: true), metered, .metered, .metered),
            (NetworkRules(isDiscretionary: true), battery, .battery, nil),
            (NetworkRules(isDiscretionary: true), NetworkConditions(hasNetwork: false), nil, nil),
        ]
        for (rules, conditions, obstacle, underWay) in cases {
            #expect(rules.obstacle(in: conditions) == obstacle, "\(rules) \(conditions)")
            #expect(rules.obstacle(in: conditions, isUnderWay: true) == underWay, "\(rules) \(conditions)")
            #expect(rules.isRestrictive == (rules != NetworkRules()))
        }
    }

    @Test("a task's options override its session's, and a Unix socket is no network")
    func options() {
        var configuration = SessionConfiguration()
        configuration.allowsMetered = false
        configuration.isDiscretionary = true
        var options = TaskOptions()
        #expect(NetworkRules(options, configuration) == NetworkRules(allowsMetered: false, isDiscretionary: true))
        options.allowsMetered = true
        options.allowsConstrained = false
        options.isDiscretionary = false
        #expect(NetworkRules(options, configuration) == NetworkRules(allowsConstrained: false))
        configuration.unixSocketPath = "/a"
        #expect(!NetworkRules(options, configuration).isRestrictive)
    }

    @Test("a machine runs on its battery if that discharges and no other supply is online")
    func power() {
        typealias Supply = PowerSupplies.Supply
        let cases: [([Supply], hasBattery: Bool, isOnBattery: Bool)] = [
            ([], false, false), ([Supply(type: "Mains", online: "0")], false, false),
            ([Supply(type: "Battery", status: "Discharging")], true, true),
            ([Supply(type: "Battery", status: "Full"), Supply(type: "Mains", online: "0")], true, false),
            ([Supply(type: "Battery", status: "Discharging"), Supply(type: "Mains", online: "1")], true, false),
            ([Supply(type: "Battery", status: "Discharging"), Supply(type: "Mains", online: "0")], true, true),
            ([Supply(type: "Battery", status: "Discharging"), Supply(type: "USB", online: "2")], true, false),
            // A mouse.
            ([Supply(type: "Battery", status: "Discharging", scope: "Device")], false, false),
            ([Supply(type: "UPS", status: "Discharging")], true, true),
            ([Supply(type: ""), Supply(type: "nonsense", online: "x", status: "Discharging")], false, false),
        ]
        for (supplies, hasBattery, isOnBattery) in cases {
            let power = PowerSupplies(supplies)
            #expect(power.hasBattery == hasBattery && power.isOnBattery == isOnBattery, "\(supplies)")
        }
        #expect(!PowerSupplies("/nonexistent").hasBattery)
    }

    @Test("mobile and tethered devices are known by name, driver or kind, and the preferred route counts")
    func devices() {
        let cases: [(String, driver: String, properties: String, Bool)] = [
            ("eth0", "../../bus/pci/drivers/e1000e", "INTERFACE=eth0\n", false), ("wlan0", "", "DEVTYPE=wlan\n", false),
            ("wwan0", "", "", true), ("wwp0s20", "", "DEVTYPE=wwan\nINTERFACE=wwp0s20\n", true), ("ppp0", "", "", true),
            ("usb0", "../../../bus/usb/drivers/rndis_host", "", true), ("enx1", "/a/ipheth", "", true),
            ("bnep0", "", "DEVTYPE=bluetooth", true), ("tun0", "", "", false),
        ]
        for (device, driver, properties, isMobile) in cases {
            #expect(Connectivity.isMobile(device, driver: driver, properties: properties) == isMobile, "\(device)")
        }
        func route(_ device: String, _ metric: Int) -> String {
            "\(device)\t00000000\t010200C0\t0003\t0\t0\t\(metric)\t00000000\t0\t0\t0\n"
        }
        let zero = String(repeating: "0", count: 32)
        let sixth = "\(zero) 00 \(zero) 00 \(zero) 00000400 00000001 00000000 00000003 wwan1\n"
        let head = "Iface\tDestination\n"
        func preferred(_ ipv4: String, _ ipv6: String = "") -> Set<String> {
            Connectivity.preferredDevices(ipv4: head + ipv4, ipv6: ipv6)
        }
        #expect(preferred(route("wwan0", 700) + route("eth0", 100)) == ["eth0"])
        #expect(preferred(route("wwan0", 50) + route("eth0", 100)) == ["wwan0"])
        #expect(preferred(route("eth0", 100), sixth) == ["eth0", "wwan1"])
        #expect(preferred("").isEmpty)
    }
}
