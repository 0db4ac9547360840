import ArgumentParser
import ByteClubCore
import Logging
import NIOCore
import TestSupport
import Testing

@testable import ByteClubServer

@Suite struct SettingsTests {
    private func configuration(
        _ flags: [SettingName: String] = [.data: "/d"], _ environment: [String: String] = [:], file: String? = nil
    ) throws -> ClubConfiguration {
        var path: String?
        let directory = try TemporaryDirectory()
        if let file {
            path = directory.path + "/settings.yaml"
            try LocalFiles.write(file, to: directory.path + "/settings.yaml")
        }
        return try ClubConfiguration(SettingSource(flags: flags, environment: environment, file: path))
    }

    /// The rate of a limiter, 0 for none.
    private func perSecond<Key>(_ limiter: RateLimiter<Key>) -> String { "\(Int(limiter.rate?.perSecond ?? 0))" }

    /// What a setting came to be.
    private func value(_ name: SettingName, _ found: ClubConfiguration) -> String {
        let limits = found.connections
        return switch name {
        case .data: found.directory
        case .listen: "\(found.address)"
        case .name: "\(found.settings.clubName as Any)"
        case .publicURL: found.settings.publicURL
        case .tlsCertificate, .tlsKey: "\(found.certificate as Any)"
        case .tlsSelfSigned: "\(found.makesCertificate)"
        case .insecureHTTP: "\(found.address.isLoopback)"
        case .trustedProxies: "\(found.trustedProxies)"
        case .proxyHeader: "\(found.proxyHeader as Any)"
        case .metricsListen: "\(found.monitorAddress as Any)"
        case .logLevel: found.logLevel.rawValue
        case .logFormat: found.logFormat.rawValue
        case .connections: "\(limits.connections)"
        case .idleTimeout: "\(limits.idle)"
        case .headTimeout: "\(limits.head)"
        case .stallTimeout: "\(limits.stall)"
        case .slowestClient: "\(limits.slowest)"
        case .drainTimeout: "\(limits.drain)"
        case .memberRate: perSecond(found.settings.limits.members)
        case .attemptRate: perSecond(found.settings.limits.attempts)
        case .anonymousRate: perSecond(found.settings.limits.anonymous)
        case .keepHistory: "\(found.history.keep as Any)"
        case .quota: "\(found.history.clubQuota as Any)"
        case .memberQuota: "\(found.history.memberQuota as Any)"
        case .historyQuota: "\(found.history.historyQuota as Any)"
        case .entries: "\(found.history.entries)"
        case .memberEntries: "\(found.history.memberEntries as Any)"
        case .unfinishedUploads: "\(found.history.unfinishedUploads)"
        case .housekeepingInterval: "\(found.housekeepingInterval)"
        case .bodyLimit: "\(found.settings.bodyLimit)"
        case .longpollMinimum: "\(found.settings.longpollMinimum)"
        case .mapLink: "\(found.settings.mapLink as Any)"
        }
    }

    @Test("the sample file names every setting, and its values are the defaults")
    func sample() throws {
        let text = String(
            decoding: Fixture.bytes(at: Fixture.projectRoot + "/Config/byteclub-server.yaml"), as: UTF8.self)
        let directory = try TemporaryDirectory()
        try LocalFiles.write(text, to: directory.path + "/sample.yaml")
        let file = try SettingsFile(path: directory.path + "/sample.yaml")
        #expect(Set(file.values.keys) == Set(SettingName.allCases))
        let sample = try configuration([:], file: text)
        let defaults = ClubConfiguration(
            address: try #require(ListenAddress("127.0.0.1:8017")), directory: "/var/lib/byteclub")
        for name in SettingName.allCases { #expect(value(name, sample) == value(name, defaults), "\(name)") }
    }

    @Test("flags beat the environment, which beats the file, which beats the defaults")
    func precedence() throws {
        let file = "connections: 10\nidle-timeout: 11\nhead-timeout: 12\ntrusted-proxies: [10.0.0.0/8, 127.0.0.1]\n"
        let environment = [
            "BYTECLUB_SERVER_CONNECTIONS": "20", "BYTECLUB_SERVER_IDLE_TIMEOUT": "21", "BYTECLUB_TOKEN": "t",
        ]
        let found = try configuration([.data: "/d", .connections: "30"], environment, file: file)
        #expect(found.connections.connections == 30)
        #expect(found.connections.idle == .seconds(21))
        #expect(found.connections.head == .seconds(12))
        #expect(found.connections.stall == .seconds(60))
        #expect(found.trustedProxies.map(\.description) == ["10.0.0.0/8", "127.0.0.1/32"])
        let directory = try TemporaryDirectory()
        try LocalFiles.write("connections: 40\n", to: directory.path + "/s.yaml")
        let named = try configuration([.data: "/d"], ["BYTECLUB_SERVER_CONFIG": directory.path + "/s.yaml"])
        #expect(named.connections.connections == 40)
    }

    @Test("sizes may have a unit, and who keeps no history is warned")
    func sizes() throws {
        let found = try configuration(
            [.data: "/d", .quota: "10G", .memberQuota: "1.5M", .historyQuota: "0", .keepHistory: "0"])
        #expect(found.history.clubQuota == 10 << 30 && found.history.memberQuota == 3 << 19)
        #expect(found.history.historyQuota == 0 && found.history.warning?.contains("keep-history is 0") == true)
        #expect(try configuration().history.warning == nil)
        for text in ["10 G", "-1", "much", "G"] {
            #expect(throws: CommandFailure.self, "\(text)") {
                try configuration([.data: "/d", .quota: text])
            }
        }
    }

    @Test("a club's name has no blanks at its ends and one form for each letter, and none of blanks is no name")
    func clubName() throws {
        let longest = String(repeating: "ü", count: 60)
        for (text, name) in [
            (" Panorama Club\n", "Panorama Club"), ("Zu\u{308}rich", "Z\u{FC}rich"), ("Фото <i> & \"", "Фото <i> & \""),
            (longest, longest), ("👩‍👩‍👧", "👩‍👩‍👧"), ("\u{200F}א", "\u{200F}א"), ("  ", nil),
        ] as [(String, String?)] {
            let found = try configuration([.data: "/d", .name: text]).settings.clubName
            #expect(found.map { Array($0.unicodeScalars) } == name.map { Array($0.unicodeScalars) }, "\(text)")
        }
        #expect(try configuration().settings.clubName == nil)
        #expect(try configuration(file: "name: Panorama Club\n").settings.clubName == "Panorama Club")
    }

    @Test(
        "a name that is too long, breaks the line, turns the order of others or cannot be seen is refused in one line",
        arguments: [
            String(repeating: "x", count: 61), "a\nb", "a\tb", "a\u{1B}[2J", "a\u{85}b", "a\u{2028}b", "a\u{202E}b",
            "\u{2067}a", "\u{200D}", "\u{AD}\u{200B}", "a" + String(repeating: "\u{301}", count: 200),
        ])
    func badClubName(text: String) throws {
        for (flags, environment, code) in [
            ([.data: "/d", .name: text], [:], CommandFailure.Code.usage),
            ([.data: "/d"], ["BYTECLUB_SERVER_NAME": text], .configuration),
        ] as [([SettingName: String], [String: String], CommandFailure.Code)] {
            let failure = #expect(throws: CommandFailure.self) { try configuration(flags, environment) }
            #expect(failure?.code == code && failure?.message.contains("1 to 60 characters") == true)
            let shown = failure?.message ?? ""
            #expect(VisibleText.line(shown) == shown, "\(shown)")
        }
    }

    @Test("the map is OpenStreetMap, another that is reached by https, or none")
    func mapLink() throws {
        #expect(try configuration().settings.mapLink == .openStreetMap)
        for text in ["off", "none"] {
            #expect(try configuration([.data: "/d", .mapLink: text]).settings.mapLink == nil)
        }
        let own = try configuration(file: "map-link: 'https://maps.example:8443/@{latitude},{longitude},15z'\n")
        #expect(own.settings.mapLink?.service == "maps.example:8443")
        #expect(
            own.settings.mapLink?.url(latitude: "-1.5", longitude: "2") == "https://maps.example:8443/@-1.5,2,15z")
        for text in [
            "http://maps.example/{latitude},{longitude}", "https://maps.example/{latitude}", "{latitude}{longitude}",
            "https://{latitude}.example/{longitude}", "https://a@b.example/{latitude}{longitude}",
            "https:///{latitude}{longitude}",
            "https://maps.example/{latitude} {longitude}", "https://maps.example/{latitude}{longitude}{zoom}",
            "javascript:alert({latitude},{longitude})", "https://maps.example/\"{latitude}{longitude}",
            "https://-/{latitude}{longitude}" + String(repeating: "x", count: 500),
            "https://maps.example/{latitude}\n{longitude}",
        ] {
            let failure = #expect(throws: CommandFailure.self, "\(text)") {
                try configuration([.data: "/d"], ["BYTECLUB_SERVER_MAP_LINK": text])
            }
            #expect(failure?.code == .configuration && failure?.message.contains("BYTECLUB_SERVER_MAP_LINK") == true)
            #expect(failure?.message.contains("\n") == false && failure?.message.contains("{latitude}") == true)
        }
    }

    @Test("every setting has a flag, and is taken from each place")
    func everyPlace() throws {
        let options = try ServeOptions.parse(
            SettingName.allCases.flatMap {
                [.insecureHTTP, .tlsSelfSigned].contains($0) ? ["--" + $0.flag] : ["--" + $0.flag, "x"]
            })
        #expect(Set(options.flags.keys) == Set(SettingName.allCases))
        for name in SettingName.allCases
        where ![.name, .data, .tlsKey, .tlsCertificate].contains(name) {
            for (flags, environment, file, place, code) in [
                ([name: "?"], [:], nil, "--\(name.flag)", CommandFailure.Code.usage),
                ([:], [name.variable: "?"], nil, name.variable, .configuration),
                ([:], [:], "\(name.flag): '?'\n", "'\(name.flag)' in '", .configuration),
            ] as [([SettingName: String], [String: String], String?, String, CommandFailure.Code)] {
                let failure = #expect(throws: CommandFailure.self) {
                    try configuration(flags.merging([.data: "/d"]) { $1 }, environment, file: file)
                }
                #expect(failure?.code == code && failure?.message.contains(place) == true, "\(name) \(place)")
                #expect(failure?.message.contains("; must be ") == true, "\(failure?.message ?? "")")
                #expect(failure?.message.contains("\n") == false)
            }
        }
    }

    @Test(
        "a file with an unknown name, no YAML or values of the wrong kind is refused with 78 in one line",
        arguments: [
            ("port: 80\n", "port"), ("listen: 127.0.0.1:1\nlissten: x\n", "settings.yaml:2: "),
            ("listen\n", "name: value"),
            ("listen:\n  host: a\n", "listen"), ("{listen: '127.0.0.1:1'}\n", "{listen"), ("listen: [a\n", "YAML"),
            ("connections: [1, 2]\n", "connections"), ("insecure-http: yes please\n", "insecure-http"),
            ("listen: a:1\nlisten: b:2\n", "listen"), ("- a\n", "name: value"), ("listen: 'a\n", "quotes"),
            ("listen: \"a\\qb\"\n", "must be written"), ("listen: 'a' b\n", "'b' after the value"),
            ("listen: |\n", "in quotes"), ("listen: *a\n", "in quotes"), ("listen: a:1\n  b\n", "one value"),
        ])
    func badFile(text: String, mentioned: String) throws {
        let failure = #expect(throws: CommandFailure.self) { try configuration(file: text) }
        #expect(
            failure?.code == .configuration && failure?.message.contains(mentioned) == true, "\(failure?.message ?? "")"
        )
        #expect(failure?.message.contains("\n") == false)
    }

    @Test(
        "a value in the file is plain, quoted or a list, with or without a comment",
        arguments: [
            (" Panorama  Club ", "Panorama  Club"), ("\"Panorama Club\" # ours", "Panorama Club"),
            ("Club #1 # ours", "Club"), ("Club#1", "Club#1"), ("# none", nil), ("''", nil), ("\"\"", nil), ("", nil),
            ("'it''s \"ours\" # here'", "it's \"ours\" # here"), ("\"a\\\"b\\\\ \\x41\\u00e9\"", "a\"b\\ Aé"),
            ("a: b", "a: b"), ("[a, 'b, c']", "a,b, c"), ("[]", nil), ("[ a , ] # ours", "a"), ("\"e\u{301}\"", "é"),
            ("\r\ndata: /e", nil), ("\n- a\n  - 'b' # ours", "a,b"),
        ] as [(String, String?)])
    func spelling(text: String, value: String?) throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/settings.yaml"
        try LocalFiles.write("name: \(text)\nlisten: b:1\n", to: path)
        let source = try SettingSource(flags: [:], environment: [:], file: path)
        #expect(source.text(.name) == value)
        #expect(source.text(.listen) == "b:1")
    }

    @Test("a certificate of the server's own lets it listen to others, and stands beside no other")
    func selfSigned() throws {
        let own = try configuration([.data: "/d", .tlsSelfSigned: "true", .listen: "0.0.0.0:8443"])
        #expect(own.makesCertificate && own.certificate == nil)
        let directory = try TemporaryDirectory()
        let file = directory.path + "/club.pem"
        try LocalFiles.write("x", to: file)
        let failure = #expect(throws: CommandFailure.self) {
            try configuration([.data: "/d", .tlsSelfSigned: "true", .tlsCertificate: file, .tlsKey: file])
        }
        #expect(failure?.code == .configuration && failure?.message.contains("combined with --tls-certificate") == true)
        let plain = #expect(throws: CommandFailure.self) {
            try configuration([.data: "/d", .listen: "0.0.0.0:8443"])
        }
        #expect(plain?.message.contains("--tls-self-signed") == true)
    }

    @Test("a missing file and an unknown variable are refused, an empty file and a comment are not")
    func edges() throws {
        #expect(throws: CommandFailure.self) {
            try SettingSource(flags: [:], environment: [:], file: "/nowhere/settings.yaml")
        }
        let failure = #expect(throws: CommandFailure.self) {
            try SettingSource(flags: [:], environment: ["BYTECLUB_SERVER_PORT": "1"], file: nil)
        }
        #expect(failure?.message.contains("BYTECLUB_SERVER_PORT") == true && failure?.code == .configuration)
        for text in ["", "# nothing\n", "---\n# nothing\n", "listen: \"\"\n"] {
            #expect(try configuration(file: text).address == ListenAddress("127.0.0.1:8017"), "\(text)")
        }
    }
}
