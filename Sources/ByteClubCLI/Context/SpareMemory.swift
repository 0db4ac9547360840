import CLinux
import Glibc
import Synchronization

/// What the program holds and does not need while nothing happens.
///
/// A first sync leaves memory that malloc keeps though it is free. The kernel maps sixteen pages of code for each one
/// that the start touches; what is needed again comes back from its cache, without reading the disk.
final class SpareMemory: Sendable {
    /// How long nothing must have happened.
    private static let quiet = Duration.seconds(5)

    private let release = Mutex<Task<Void, any Error>?>(nil)

    /// Gives it back to the system when nothing happens for a while.
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

    /// Keeps it, because something happens.
    func keep() { replace(nil) }

    private func replace(_ task: Task<Void, any Error>?) {
        release.withLock { release in
            release?.cancel()
            release = task
        }
    }

    /// The addresses of code in which nobody has ever written, be it in RAM or in swap, in the text of `smaps`.
    ///
    /// Code alone, since programs and libraries stay where they are: another mapping could come to the place of a
    /// file's before it is let go of. See proc_pid_smaps(5).
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
