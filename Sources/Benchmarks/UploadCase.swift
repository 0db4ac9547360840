import TestSupport

/// One large upload to the same server, hashed on both sides, beside curl; and the memory of client and server.
enum UploadCase {
    static func run(_ settings: Settings) async throws -> [Table] {
        let folder = settings.folder("upload")
        defer { settings.discard(folder) }
        var runs = Runs()
        var servers = Runs()
        let head = Fixture.bytes("panoramas/city.jpg")
        let (small, large) = (folder + "/small.jpg", folder + "/large.jpg")
        try LocalFiles.writeLarge(head: head, length: 64 << 20, seed: 1, to: small)
        try LocalFiles.writeLarge(head: head, length: settings.mebibytes << 20, seed: 2, to: large)
        for round in 0..<settings.rounds {
            for (name, file) in [(ours(64), small), (ours(settings.mebibytes), large), (curl, large)] {
                let place = settings.folder("upload/round")
                let club = try await Club.open(["ann"], in: place, arguments: ["--body-limit", "17179869184"])
                let run: Measurement
                if name == curl {
                    let url = club.server.url + "/1/files_put/dropbox/byteclub/photos/\(round).jpg"
                    run = try await Stopwatch.run(
                        "curl",
                        [
                            "-sSf", "-o", place + "/answer", "-H", "Expect:", "-H",
                            "Authorization: Bearer \(club.tokens[0])", "-T", file, url,
                        ], in: place)
                } else {
                    run = try await Stopwatch.run(
                        "byteclub", ["photos", "upload", file], environment: club.members[0].environment, in: place)
                }
                runs.add(name, run)
                let memory = Double(club.server.process?.currentPeakMemory() ?? 0) / 1_048_576
                servers.add(name, Measurement(seconds: 0, memory: memory))
                await club.close()
                settings.discard(place)
            }
        }
        let race = runs.table(
            "\(settings.mebibytes) MiB up, hashed on both sides, durable\(settings.label)", unit: "MiB/s",
            amount: Double(settings.mebibytes), reference: curl, of: [ours(settings.mebibytes), curl])
        var memory = Table(title: "Memory of that\(settings.label)", header: ["file", "client MiB", "server MiB"])
        for name in [ours(64), ours(settings.mebibytes)] {
            memory.rows.append([name] + [runs, servers].map { Table.number($0.median(name).memory, 1) })
        }
        return [race, memory]
    }

    private static let curl = "curl -T"
    private static func ours(_ mebibytes: Int) -> String { "byteclub photos upload, \(mebibytes) MiB" }
}
