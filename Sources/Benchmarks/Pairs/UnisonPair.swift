import TestSupport

/// Two local folders that Debian's Unison compares once a second.
struct UnisonPair: MirrorPair {
    let one: String
    let two: String
    let processes: [SpawnedProcess]

    static func start(in folder: String, fill: (String) throws -> Void) async throws -> UnisonPair {
        let (one, two) = (folder + "/one", folder + "/two")
        for mirror in [one, two] { LocalFiles.makeFolder(mirror) }
        try fill(one)
        let process = try Program.start(
            try program, arguments(one, two) + ["-repeat", "1"], environment: environment(folder),
            timeout: .seconds(3600))
        return UnisonPair(one: one, two: two, processes: [process])
    }

    static var isInstalled: Bool { Peer.unison.isInstalled }

    static var program: String {
        get throws {
            guard let program = Program.system("unison") else {
                throw Stopwatch.Failure(description: "Debian's package unison is missing")
            }
            return program
        }
    }

    static func arguments(_ one: String, _ two: String) -> [String] {
        [one, two, "-batch", "-auto", "-ui", "text", "-silent", "-confirmbigdel=false"]
    }

    static func environment(_ folder: String) -> [String: String] {
        ["HOME": folder, "UNISON": folder + "/unison"]
    }
}
