import Glibc
import TestSupport
import Testing

extension EndToEnd {
    /// Grown by `Tests/Tools/torture`; a slice of it runs with all other tests.
    @Suite("Torture of the server", .serialized) struct TortureTests {
        @Test("a storm of writes under kill -9 loses no acknowledged byte, and the data verifies clean")
        func kills() async throws {
            let kills = Settings.number("BYTECLUB_TORTURE_KILLS") ?? 20
            let goal = Settings.number("BYTECLUB_TORTURE_WRITES") ?? 10_000
            let folder = try TemporaryDirectory()
            let state = Settings.text("BYTECLUB_TORTURE_STATE") ?? folder.path
            var generator = SeededGenerator(seed: Sample.seed("torture"))
            var torture = Torture(data: state + "/data", ledger: state + "/ledger")
            let before = torture.acknowledged.count
            let token = try await Self.token(torture, state)
            let clock = ContinuousClock()
            let start = clock.now
            var last: [AcknowledgedWrite] = []
            for kill in 0..<kills {
                let server = try await torture.start()
                let torn = await last.newest.readBack(port: server.port, token: token)
                #expect(torn.isEmpty, "lost after kill \(kill): \(torn)")
                let share = max(1, (goal - (torture.acknowledged.count - before)) / (kills - kill))
                let count = kill == kills - 1 ? share : Int.random(in: 0...(2 * share), using: &generator)
                last = try await torture.storm(server, token) { storm in
                    while storm.acknowledgedCount < count, storm.refusals.isEmpty {
                        try await clock.sleep(for: .milliseconds(1))
                    }
                    try await clock.sleep(for: .microseconds(Int.random(in: 0..<3000, using: &generator)))
                    await server.kill9()
                }
            }
            let writing = clock.now - start
            try await Self.expectWhole(torture, token)
            print(
                "torture: \(torture.acknowledged.count - before) acknowledged writes under \(kills) kills "
                    + "in \(writing), checked with \(torture.acknowledged.count) in all; "
                    + "together \(clock.now - start)")
        }

        @Test("power cuts lose no acknowledged byte; without fsync the same cuts do, so that they are known to bite")
        func powerCuts() async throws {
            guard VolatileDisk.isPossible else {
                return print("skipped: power cuts need root, FUSE, loop devices and python3-fusepy")
            }
            let cuts = Settings.number("BYTECLUB_TORTURE_CUTS") ?? 3
            let folder = try TemporaryDirectory()
            var generator = SeededGenerator(seed: Sample.seed("power cuts"))
            let careless = try await Self.cut(3, folder.path + "/careless", isSyncing: false, using: &generator)
            #expect(careless.lost > 0, "cuts without fsync lost nothing: they prove nothing")
            let state = Settings.text("BYTECLUB_TORTURE_STATE").map { $0 + "/cuts" } ?? folder.path + "/careful"
            let careful = try await Self.cut(cuts, state, isSyncing: true, using: &generator)
            #expect(careful.lost == 0)
            print(
                "power cuts: \(cuts) cuts, \(careful.writes) acknowledged writes, \(careful.lost) lost; "
                    + "without fsync 3 cuts, \(careless.writes) acknowledged writes, \(careless.lost) lost")
        }

        private static func cut(
            _ cuts: Int, _ folder: String, isSyncing: Bool, using generator: inout SeededGenerator
        ) async throws -> (writes: Int, lost: Int) {
            unsafe mkdir(folder, 0o700)
            let image = folder + "/image"
            if unsafe access(image, F_OK) != 0 { try await VolatileDisk.format(image, mebibytes: 4096) }
            var torture = Torture(data: folder + "/disk/data", ledger: folder + "/ledger")
            if !isSyncing { torture.environment = ["LD_PRELOAD": "libeatmydata.so"] }
            let clock = ContinuousClock()
            let before = torture.acknowledged.count
            var lost = 0
            for _ in 0..<cuts {
                let keep = Double([0, 0, 0.3, 0.9][Int.random(in: 0..<4, using: &generator)])
                let disk = try await VolatileDisk(image, in: folder, keep: keep)
                let server: ServerProcess
                do {
                    server = try await torture.start()
                } catch {
                    // Without fsync even the database may be gone.
                    try await disk.cut()
                    #expect(!isSyncing, "\(error)")
                    return (torture.acknowledged.count - before, max(lost, torture.acknowledged.count))
                }
                lost += try await check(&torture, server, folder)
                let token = try await token(torture, folder, server)
                let count = Int.random(in: 0..<3000, using: &generator)
                let serverGoesFirst = Bool.random(using: &generator)
                _ = try await torture.storm(server, token) { storm in
                    while storm.acknowledgedCount < count, storm.refusals.isEmpty {
                        try await clock.sleep(for: .milliseconds(1))
                    }
                    if serverGoesFirst { await server.kill9() }
                    try await disk.cut()
                    await server.kill9()
                }
            }
            let disk = try await VolatileDisk(image, in: folder, keep: 0)
            if let server = try? await torture.start() {
                lost += try await check(&torture, server, folder)
                await server.stop()
                if isSyncing {
                    let verified = try await torture.verify()
                    #expect(verified.status == 0, "\(verified)")
                }
            } else {
                #expect(!isSyncing, "the server does not start after the last cut")
                lost = max(lost, torture.acknowledged.count)
            }
            try await disk.cut()
            return (torture.acknowledged.count - before + (isSyncing ? 0 : lost), lost)
        }

        /// How many of all acknowledged writes are missing.
        private static func check(
            _ torture: inout Torture, _ server: ServerProcess, _ folder: String
        ) async throws -> Int {
            if torture.acknowledged.isEmpty { return 0 }
            let token = try await token(torture, folder, server)
            let missing = await torture.acknowledged.missingFromHistory(port: server.port, token: token)
            let newest = torture.acknowledged.suffix(500)
            let torn = await Array(newest).readBack(port: server.port, token: token)
            let lost = Set(missing).union(torn)
            torture.forget(Array(lost))
            return lost.count
        }

        /// Every acknowledged write is in the history of its path with its hash, and all that is kept has its hash.
        private static func expectWhole(_ torture: Torture, _ token: String) async throws {
            let server = try await torture.start()
            let missing = await torture.acknowledged.missingFromHistory(port: server.port, token: token)
            #expect(missing.isEmpty, "\(missing.count) acknowledged writes are lost: \(missing.prefix(5))")
            let whileServing = try await torture.verify()
            #expect(whileServing.status == 0, "\(whileServing)")
            await server.kill9()
            let verified = try await torture.verify()
            #expect(verified.status == 0, "\(verified)")
            print(verified.lines.last ?? "")
        }

        /// The writers' token, from the file in which the first run left it.
        private static func token(_ torture: Torture, _ folder: String, _ server: ServerProcess? = nil) async throws
            -> String
        {
            let file = folder + "/token"
            let known = String(decoding: Fixture.bytes(at: file), as: UTF8.self)
            if known.count == 64, try await isKnown(known, server) { return known }
            let result = try await Program.run(
                "byteclub-server",
                ["members", "add", "torture-\(UInt32.random(in: 0...(.max)))", "--data", torture.data])
            let token = try #require(result.lines.first, "\(result)")
            try LocalFiles.write(token, to: file)
            return token
        }

        /// Without fsync a power cut may take the member away too.
        private static func isKnown(_ token: String, _ server: ServerProcess?) async throws -> Bool {
            guard let server else { return true }
            return await BackgroundThread.run {
                guard var connection = KeepAliveConnection(port: server.port, token: token) else { return false }
                return connection.exchange("GET /1/account/info")?.status == 200
            }
        }
    }
}
