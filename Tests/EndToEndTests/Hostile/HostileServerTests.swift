import ByteClubCore
import TestSupport
import Testing

extension EndToEnd {
    /// A server may say whatever it likes; all that it gains is that a program tells of it in one line and ends.
    @Suite("A hostile server") struct HostileServerTests {
        @Test("gains nothing from a mirror that it lies to", arguments: Wire.tried)
        func syncs(wire: Wire) async throws {
            try await withScene(wire) { scene in
                let feed =
                    wire == .extended
                    ? HostileLie.journal(elsewhere: scene.elsewhere, bomb: scene.bomb)
                    : HostileLie.delta(elsewhere: scene.elsewhere, bomb: scene.bomb)
                for lie in feed + HostileLie.contents { try await scene.tell(lie) }
            }
        }

        @Test("gains nothing from the commands that ask it", arguments: Wire.tried)
        func commands(wire: Wire) async throws {
            try await withScene(wire) { scene in
                for lie in HostileLie.commands(
                    elsewhere: scene.elsewhere, bomb: scene.bomb, output: scene.liar.club.folder.path + "/output.jpg")
                {
                    try await scene.tell(lie)
                }
            }
        }

        @Test("gains nothing from a mirror that is compared with it", arguments: Wire.tried)
        func verifications(wire: Wire) async throws {
            try await withScene(wire) { scene in
                for lie in HostileLie.verifications(wire, elsewhere: scene.elsewhere, bomb: scene.bomb) {
                    try await scene.tell(lie)
                }
            }
        }

        @Test(
            "neither ends nor busies a mirror that follows it, which goes on when the lies end", arguments: Wire.tried)
        func follows(wire: Wire) async throws {
            try await withScene(wire) { scene in
                let lies =
                    wire == .extended
                    ? HostileLie.journal(elsewhere: scene.elsewhere, bomb: scene.bomb)
                    : HostileLie.delta(elsewhere: scene.elsewhere, bomb: scene.bomb)
                for lie in lies where lie.gain.contains("leads to itself") || lie.gain.contains("begins anew") {
                    try await scene.follow(lie)
                }
            }
        }

        private func withScene(_ wire: Wire, _ work: (HostileScene) async throws -> Void) async throws {
            let scene = try await HostileScene.start(wire)
            try await work(scene)
            #expect(scene.visits.count == 0, "somebody was sent to another place")
        }
    }
}
