import Glibc

@testable import ByteClubMedia

/// The photos of the top-level `Fixtures` folder.
enum Photos {
    static let spheres = ["city", "courtyard", "forest", "interior", "night", "studio", "sunrise", "sunset"]

    static var root: String {
        let parts = #filePath.split(separator: "/").dropLast(4)
        return "/" + parts.joined(separator: "/") + "/Fixtures/panoramas/"
    }

    static func path(_ name: String) -> String {
        root + name + ".jpg"
    }

    static func bytes(_ name: String) throws -> [UInt8] {
        try FileSource(path: path(name)).readAll()
    }

    /// The larger photos fetched by `Config/fetch-fixtures`, or nil.
    static var fetched: String? { cached("byteclub-fixtures", with: "1.jpg") }

    /// The photos that `Tests/Tools/photo-kinds` fetches and makes, with a table of what they are, or nil.
    static var kinds: String? { cached("byteclub-kinds", with: "kinds.tsv") }

    private static func cached(_ folder: String, with name: String) -> String? {
        func variable(_ name: String) -> String? {
            unsafe getenv(name).map { unsafe String(cString: $0) }
        }
        let cache = variable("XDG_CACHE_HOME") ?? variable("HOME").map { $0 + "/.cache" }
        let directory = (cache ?? "") + "/\(folder)/"
        return unsafe access(directory + name, R_OK) == 0 ? directory : nil
    }
}

/// A directory that goes when the test ends.
struct Scratch: ~Copyable {
    let path: String

    init() throws {
        let base = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
        path = "\(base)/byteclub-media-\(UInt64.random(in: 0 ... .max))/"
        guard unsafe mkdir(path, 0o700) == 0 else { throw MediaError(.io, "cannot make \(path)") }
    }

    deinit {
        for name in names { _ = unsafe unlink(path + name) }
        _ = unsafe rmdir(path)
    }

    var names: [String] {
        guard let stream = unsafe opendir(path) else { return [] }
        defer { _ = unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { raw in
                unsafe String(decoding: raw.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    func write(_ bytes: [UInt8], _ name: String) throws -> String {
        try NewFile.write(bytes, to: path + name)
        return path + name
    }
}

/// A small generator with a seed, so that a failure can be had again (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
