import CLinux
import Glibc
import Synchronization

/// Returns memory to the system while the program is idle: an idle mirror shrinks from 36 to 12 MiB.
///
/// malloc keeps the freed memory of a first sync. The kernel maps sixteen pages of code around each one that the start
/// touches, 25 MiB in all; pages that are needed again come from its cache, without reading the disk.
final class SpareMemory: Sendable {
    /// The idle time before memory is returned.
    private static let quiet = Duration.seconds(5)

    private let release = Mutex<Task<Void, any Error>?>(nil)

    /// Returns memory if the program stays idle.
    func releaseSoon() {
        replace(
            Task {
                try await Task.sleep(for: Self.quiet)
                malloc_trim(0)
                for pages in Self.unwritten(in: try LocalFile.read("/proc/self/smaps")) {
                    unsafe madvise(UnsafeMutableRawPointer(bitPattern: pages.lowerBound), pages.count, MADV_DONTNEED)
                }
            })
    }

    /// Keeps the memory: the program is busy.
    func keep() { replace(nil) }

    private func replace(_ task: Task<Void, any Error>?) {
        release.withLock { release in
            release?.cancel()
            release = task
        }
    }

    /// The address ranges of unmodified code, in RAM or in swap, in the text of `smaps`; see proc_pid_smaps(5).
    ///
    /// Only code, since programs and libraries stay mapped: another file could be unmapped, and its range reused,
    /// before it is released.
    static func unwritten(in smaps: [UInt8]) -> [Range<UInt>] {
        var found: [Range<UInt>] = []
        var current: Range<UInt>?
        for line in String(decoding: smaps, as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            if let range = words.first.flatMap(range) {
                let isCode = words.count > 5 && words[5].hasPrefix("/") && words[1] == "r-xp"
                current = isCode ? range : nil
            } else if words.first == "Anonymous:", !words.dropFirst().starts(with: ["0"]) {
                current = nil
            } else if words.first == "Swap:", let pages = current {
                if words.dropFirst().starts(with: ["0"]) { found.append(pages) }
                current = nil
            }
        }
        return found
    }

    private static func range(_ word: Substring) -> Range<UInt>? {
        let bounds = word.split(separator: "-").compactMap { UInt($0, radix: 16) }
        return bounds.count == 2 && bounds[0] < bounds[1] ? bounds[0]..<bounds[1] : nil
    }
}
