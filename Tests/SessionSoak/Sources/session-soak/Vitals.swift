import CSoak
import Glibc

@testable import ByteClubHTTP

/// What the process holds.
struct Vitals: CustomStringConvertible {
    var residentBytes: Int
    var heapBytes: Int
    var descriptors: Int
    var threads: Int
    var transfers: Int
    var handles: Int

    static var now: Vitals {
        Vitals(
            residentBytes: residentPages * 4096, heapBytes: soak_heap_bytes(),
            // The folder that is read has one, too.
            descriptors: entries(of: "/proc/self/fd") - 1, threads: entries(of: "/proc/self/task"),
            transfers: Transfer.liveCount.load(ordering: .relaxed),
            handles: EasyHandle.liveCount.load(ordering: .relaxed))
    }

    var description: String {
        "rss \(residentBytes >> 20) MiB, heap \(heapBytes >> 10) KiB, \(descriptors) descriptors, \(threads) threads, "
            + "\(transfers) transfers, \(handles) handles"
    }

    /// The names in a folder.
    static func names(in path: String) -> [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    private static func entries(of path: String) -> Int { names(in: path).count }

    private static var residentPages: Int {
        guard let file = fopen("/proc/self/statm", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 128)
        guard fgets(&line, 128, file) != nil else { return 0 }
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    }
}
