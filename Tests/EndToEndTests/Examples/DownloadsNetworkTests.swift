import TestSupport
import Testing

extension EndToEnd {
    /// The third example where the network goes, and where a file changes meanwhile.
    @Suite("downloads without a network", .enabled(if: Wire.usual == .extended, "no mirror, so once is enough"))
    struct DownloadsNetworkTests {
        /// Whether a program can be started in a network of its own.
        private static let isPossible = NetworkNamespace.isPossible && Program.system("nsenter") != nil

        private static let song = "/previews/1001.wav"

        /// A server and a program in a network of their own.
        ///
        /// Only the server's threads and the program enter it, not a thread that may start one of the runtime's.
        private func withNetwork(_ body: (NetworkNamespace, ListenerMachine) async throws -> Void) async throws {
            let network = try #require(NetworkNamespace())
            let machine = try network.run { try ListenerMachine("downloads") }
            defer { machine.close() }
            try await body(network, machine)
        }

        private func start(
            _ network: NetworkNamespace, _ machine: ListenerMachine, _ arguments: String
        ) throws -> SpawnedProcess {
            let url = machine.server.url + Self.song
            return try machine.startShell(
                "nsenter --net=\(network.path) downloads \(url) -o \(machine.folder) \(arguments)",
                timeout: .seconds(300))
        }

        /// Ends the connections, and takes the network away before the program can connect again.
        private func lose(_ network: NetworkNamespace, _ machine: ListenerMachine) {
            loseConnection(machine) { network.takeAddress() }
        }

        /// Ends the connections; the next answer is held after its beginning.
        private func loseConnection(_ machine: ListenerMachine, meanwhile: () -> Void = {}) {
            machine.server.setDown(true)
            meanwhile()
            machine.server.change(Self.song) { $0.holdsAfter = 50_000 }
            machine.server.setDown(false)
        }

        private func release(_ machine: ListenerMachine) {
            machine.server.change(Self.song) { $0.holdsAfter = nil }
        }

        private func expectFile(_ machine: ListenerMachine, location: SourceLocation = #_sourceLocation) {
            let bytes = machine.server.file(Self.song)?.bytes
            #expect(Fixture.bytes(at: machine.folder + "/1001.wav") == bytes, sourceLocation: location)
            #expect(FileTree(machine.folder).files == ["1001.wav"], sourceLocation: location)
        }

        @Test(
            "a download whose network goes waits for it, shows that, and goes on from its part",
            .enabled(if: isPossible), arguments: ["default", "ephemeral"])
        func interrupted(session: String) async throws {
            try await withNetwork { network, machine in
                machine.server.change(Self.song) { $0.holdsAfter = 150_000 }
                let process = try start(network, machine, "--session \(session)")
                try await eventually("the part") { machine.part == 150_000 }
                lose(network, machine)
                let told = await process.line(of: .errors) { $0.contains("waiting for the network") }
                // With an amount, if progress was reported before.
                #expect(told?.hasPrefix("1001.wav: waiting for the network") == true)
                network.giveAddress()
                let next = await process.line(of: .errors) { $0.hasSuffix(", goes on at 150.0 kB") }
                #expect(next?.hasPrefix("1001.wav: running, ") == true)
                release(machine)
                let result = await process.result()
                #expect(result.status == 0, "\(result)")
                let requests = machine.server.requests(for: Self.song)
                #expect(requests.map(\.range) == [nil, "bytes=150000-"], "\(requests)")
                expectFile(machine)
            }
        }

        @Test(
            "a download in the background is tried again when the network is back, and goes on from its part",
            .enabled(if: isPossible))
        func background() async throws {
            try await withNetwork { network, machine in
                machine.server.change(Self.song) { $0.holdsAfter = 150_000 }
                let process = try start(network, machine, "--session background")
                try await eventually("the part") { machine.part == 150_000 }
                lose(network, machine)
                // The first line of this state has no amount.
                let told = await process.line(of: .errors) { $0.hasPrefix("1001.wav: waiting, 46.8% of 320.0 kB, ") }
                #expect(told != nil)
                release(machine)
                network.giveAddress()
                let result = await process.result()
                #expect(result.status == 0, "\(result)")
                #expect(machine.server.requests(for: Self.song).map(\.range) == [nil, "bytes=150000-"])
                expectFile(machine)
            }
        }

        @Test("scripts get the wait and the continuation as events", .enabled(if: isPossible))
        func events() async throws {
            try await withNetwork { network, machine in
                machine.server.change(Self.song) { $0.holdsAfter = 150_000 }
                let process = try start(network, machine, "--json")
                try await eventually("the part") { machine.part == 150_000 }
                lose(network, machine)
                _ = await process.line(of: .output) { $0.contains(#""event":"offline""#) }
                network.giveAddress()
                _ = await process.line(of: .output) { $0.contains(#""event":"resumed""#) }
                release(machine)
                let result = await process.result()
                #expect(result.status == 0, "\(result)")
                let events = try JSONValue.lines(result.output)
                let offline = events.filter { $0["event"] == .text("offline") }
                #expect(offline.count == 1 && offline.first?["state"] == .text("waiting"), "\(result)")
                let resumed = events.filter { $0["event"] == .text("resumed") }
                #expect(resumed.count == 1 && resumed.first?["at"] == .number(150_000), "\(result)")
                #expect(resumed.first?["state"] == .text("running"), "\(result)")
                #expect(events.last?["state"] == .text("done"), "\(result)")
            }
        }

        @Test(
            "a download that starts without a network waits for one, as a file and in pieces",
            .enabled(if: isPossible), arguments: ["download", "data"])
        func started(form: String) async throws {
            try await withNetwork { network, machine in
                network.takeAddress()
                let process = try start(network, machine, "--as \(form)")
                let told = await process.line(of: .errors) { $0.contains("network") }
                #expect(told == "1001.wav: waiting for the network")
                #expect(machine.server.requests.isEmpty)
                network.giveAddress()
                let result = await process.result()
                #expect(result.status == 0, "\(result)")
                #expect(machine.server.requests(for: Self.song).count == 1)
                expectFile(machine)
            }
        }

        @Test(
            "a file that changes while the connection is lost begins anew, and no version is mixed with another",
            arguments: ["default", "ephemeral", "background"])
        func changed(session: String) async throws {
            try await withListener("downloads") { machine in
                machine.server.change(Self.song) { $0.holdsAfter = 150_000 }
                let process = try machine.start(
                    [machine.server.url + Self.song, "-o", machine.folder, "--session", session])
                try await eventually("the part") { machine.part == 150_000 }
                machine.server.replace(Self.song, by: WaveAudio.tone(seconds: 7, frequency: 77))
                loseConnection(machine)
                // The daemon reports bytes and states only.
                if session != "background" {
                    let told = await process.line(of: .errors) { $0.hasSuffix(", begins anew") }
                    #expect(told?.hasPrefix("1001.wav: running, ") == true)
                }
                release(machine)
                let result = await process.result()
                #expect(result.status == 0, "\(result)")
                #expect(machine.server.requests(for: Self.song).last?.status == 200)
                expectFile(machine)
            }
        }

        @Test("pieces of a lost connection are dropped with it: the program ends with 69, and the next one begins anew")
        func pieces() async throws {
            try await withListener("downloads") { machine in
                machine.server.change(Self.song) { $0.holdsAfter = 150_000 }
                let command = [machine.server.url + Self.song, "-o", machine.folder, "--as", "data"]
                let process = try machine.start(command)
                _ = await process.line(of: .errors) { $0.hasPrefix("1001.wav: running") }
                machine.server.replace(Self.song, by: WaveAudio.tone(seconds: 7, frequency: 77))
                loseConnection(machine)
                let result = await process.result()
                #expect(result.status == 69, "\(result)")
                #expect(result.errorLines.contains { $0.hasPrefix("1001.wav: failed, ") }, "\(result)")
                release(machine)
                #expect(try await machine.start(command).result().status == 0)
                #expect(machine.server.requests(for: Self.song).map(\.range) == [nil, nil])
                expectFile(machine)
            }
        }
    }
}
