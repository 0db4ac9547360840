import Glibc

/// A folder that is removed when the test ends.
final class TemporaryFolder: Sendable {
    let path: String

    init() {
        let parent = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
        path = "\(parent)/byteclub-http-\(UInt64.random(in: 0 ... .max))"
        precondition(unsafe mkdir(path, 0o755) == 0, "the test needs a folder at \(path)")
    }

    deinit { Self.remove(path) }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    func write(_ name: String, _ bytes: [UInt8]) -> String {
        let path = file(name)
        // A program that is started meanwhile must not keep it open: a script that is open for writing cannot be started.
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        defer { close(descriptor) }
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { all in
                unsafe all.baseAddress.map { unsafe Glibc.write(descriptor, $0 + written, bytes.count - written) } ?? -1
            }
            precondition(count > 0, "the test cannot write \(path)")
            written += count
        }
        return path
    }

    func read(_ name: String) -> [UInt8]? {
        let descriptor = unsafe open(file(name), O_RDONLY)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var result: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = unsafe Glibc.read(descriptor, &chunk, chunk.count)
            if count <= 0 { return result }
            result += chunk[..<count]
        }
    }

    /// The names in the folder, hidden ones too.
    var names: [String] { Self.entries(path) }

    /// The names in a folder, sorted.
    static func entries(_ path: String) -> [String] {
        guard let folder = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(folder) }
        var result: [String] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != ".", name != ".." { result.append(name) }
        }
        return result.sorted()
    }

    private static func remove(_ path: String) {
        for name in entries(path) where unsafe unlink("\(path)/\(name)") != 0 { remove("\(path)/\(name)") }
        unsafe rmdir(path)
    }
}
