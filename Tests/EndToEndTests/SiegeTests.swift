import TestSupport
import Testing

extension EndToEnd {
    @Suite("The siege") struct SiegeTests {
        @Test(
            "a siege of seconds serves members, lets each attack reach the server, and reports on both and on all bars")
        func seconds() async throws {
            let folder = try TemporaryDirectory()
            let result = try await Program.run(
                "Siege",
                ["--work", folder.path, "--minutes", "0.15", "--percent", "3", "--members", "3", "--json"],
                timeout: .seconds(400))
            // On a machine that does other things too, the bars that are times may be missed; what is counted is right.
            try #require([0, 1].contains(result.status) && result.lines.count == 1, "\(result)")
            let report = try JSONValue.parse(result.output)
            let outcome = try #require(report["outcomes"]?.elements.first, "\(result)")
            for phase in ["quiet", "siege"] { #expect((outcome[phase]?["requests"]?.number ?? 0) > 0, "\(phase)") }
            #expect(outcome["quiet"]?["refused"]?.number == 0, "\(result)")
            let attacks = outcome["attacks"]?.elements ?? []
            #expect(attacks.count == 13)
            for attack in attacks {
                #expect(attack["reached"] == .bool(true) && (attack["opened"]?.number ?? 0) > 0, "\(attack)")
            }
            let bars = outcome["bars"]?.elements ?? []
            let missed = bars.filter { $0["kept"] != .bool(true) }
            #expect(bars.count == 9 && (result.status == 0) == missed.isEmpty, "\(result)")
            #expect(result.errorLines.count { $0.hasPrefix("siege: failed: ") } == missed.count, "\(result)")
            for name in ["most memory of the server, MiB", "most disk of the data folder, MiB"] {
                let bar = bars.first { $0["name"]?.text == name }
                #expect((bar?["figure"]?.text.flatMap { Double($0) } ?? 0) > 1, "\(name)")
            }
            let served = try #require(bars.first { $0["name"]?.text == "the server" })
            #expect(served["kept"] == .bool(true), "\(served)")
        }

        @Test("a siege refuses an option that makes no sense before it starts anything")
        func options() async throws {
            let folder = try TemporaryDirectory()
            for wrong in [["--minutes", "0"], ["--members", "1000"], ["--seed"], ["--speed", "3"]] {
                let result = try await Program.run("Siege", ["--work", folder.path] + wrong)
                #expect(result.status == 1 && result.errorText.contains(wrong[0]), "\(result)")
            }
        }
    }
}
