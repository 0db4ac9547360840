import TestSupport

/// Two members' mirrors and their server, everything durable.
struct ByteClubPair: MirrorPair {
    let one: String
    let two: String
    let processes: [SpawnedProcess]
    private let club: Club

    static func start(in folder: String, fill: (String) throws -> Void) async throws -> ByteClubPair {
        let club = try await Club.open(["ann", "bo"], in: folder)
        try fill(club.members[0].mirror)
        for member in club.members {
            let result = try await member.sync(timeout: .seconds(900))
            guard result.status == 0 else { throw Stopwatch.Failure(description: "\(result)") }
        }
        let syncs = try club.members.map { try $0.start(["sync", $0.mirror], timeout: .seconds(3600)) }
        try await Task.sleep(for: .seconds(3))
        return ByteClubPair(
            one: club.members[0].mirror, two: club.members[1].mirror, processes: syncs, club: club)
    }

    func close() async { await club.close() }
}
