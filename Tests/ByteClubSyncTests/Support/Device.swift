import ByteClubCore
import CLinux
import Glibc
import MemoryRemote
import Synchronization
import TestSupport

@testable import ByteClubSync

/// One member's machine: a mirror and its state in a temporary directory, and the server seen from it.
final class Device: Sendable {
    let home: TemporaryDirectory
    let remote: MemoryRemote
    let log = EventLog()
    private let forces: Bool
    private let usesExtension: Bool
    private let member: String?

    /// `forces` lets every deletion through; without `usesExtension` only Core API v1 is spoken.
    @inline(never)
    init(
        _ remote: MemoryRemote, in parent: String? = nil, forces: Bool = false, usesExtension: Bool = true,
        member: String? = nil
    ) throws {
        home = try TemporaryDirectory(in: parent)
        self.remote = remote
        self.forces = forces
        self.usesExtension = usesExtension
        self.member = member
    }

    var root: String { home.path + "/mirror" }
    var state: String { home.path + "/state" }

    var configuration: SyncConfiguration {
        var configuration = SyncConfiguration(directory: root, stateDirectory: state)
        configuration.approvesDeletions = forces
        configuration.usesExtension = usesExtension
        configuration.memberName = member
        return configuration
    }

    @inline(never)
    func engine(forcing: Bool = false) throws -> SyncEngine {
        var configuration = configuration
        configuration.approvesDeletions = forces || forcing
        return try SyncEngine(configuration: configuration, remote: remote)
    }

    @inline(never)
    @discardableResult
    func sync(forcing: Bool = false) async throws -> SyncSummary {
        try await engine(forcing: forcing).runOnce { [log] in log.add($0) }
    }

    func write(_ path: String, _ text: String) { write(path, Array(text.utf8)) }

    func write(_ path: String, _ bytes: [UInt8]) {
        let full = root + "/" + path
        var parent = ""
        for part in full.split(separator: "/").dropLast() {
            parent += "/" + part
            unsafe mkdir(parent, 0o777)
        }
        // As editors do: a new file that takes the place of the old one.
        let file = unsafe open(full, O_WRONLY | O_CREAT | O_TRUNC, 0o666)
        guard file >= 0 else { return }
        var offset = 0
        while offset < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { all in
                unsafe Glibc.write(file, all.baseAddress?.advanced(by: offset), all.count - offset)
            }
            if count <= 0 { break }
            offset += count
        }
        close(file)
    }

    /// Sets when a file was last written, in seconds since 1970.
    func setModified(_ path: String, _ seconds: Int64) {
        let moment = timespec(tv_sec: Int(seconds), tv_nsec: 0)
        unsafe utimensat(AT_FDCWD, root + "/" + path, [moment, moment], 0)
    }

    func read(_ path: String) -> String? {
        guard unsafe access(root + "/" + path, F_OK) == 0 else { return nil }
        return Fixture.text(Fixture.bytes(at: root + "/" + path))
    }

    func exists(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(root + "/" + path, &status) == 0
    }

    func remove(_ path: String) { TemporaryDirectory.remove(root + "/" + path) }

    func makeFolder(_ path: String) { unsafe mkdir(root + "/" + path, 0o777) }

    /// All files below a directory of the mirror with their text, folders with a slash and no text; ours left out.
    func files(below top: String = "", private isPrivate: Bool = false) -> [String: String] {
        var result: [String: String] = [:]
        walk(root + (top.isEmpty ? "" : "/" + top), "", isPrivate, &result)
        return result
    }

    private func walk(_ folder: String, _ prefix: String, _ isPrivate: Bool, _ result: inout [String: String]) {
        guard let directory = unsafe opendir(folder) else { return }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != ".", name != "..", isPrivate || name != ".byteclub" { names.append(name) }
        }
        unsafe closedir(directory)
        for name in names {
            var status = stat()
            unsafe lstat(folder + "/" + name, &status)
            if status.st_mode & S_IFMT == S_IFDIR {
                result[prefix + name + "/"] = ""
                walk(folder + "/" + name, prefix + name + "/", isPrivate, &result)
            } else if status.st_mode & S_IFMT == S_IFREG {
                result[prefix + name] = Fixture.text(Fixture.bytes(at: folder + "/" + name))
            }
        }
    }

    /// What lies in the trash, by text.
    var trash: [String] {
        files(below: ".byteclub/trash", private: true).filter { !$0.key.hasSuffix("/") }.map(\.value).sorted()
    }

    /// Whether nothing is left in staging.
    var isStagingEmpty: Bool { files(below: ".byteclub/staging", private: true).isEmpty }
}

/// Collects events from any thread.
final class EventLog: Sendable {
    private let events = Mutex<[SyncEvent]>([])

    func add(_ event: SyncEvent) { events.withLock { $0.append(event) } }
    func clear() { events.withLock { $0.removeAll() } }
    var all: [SyncEvent] { events.withLock { $0 } }

    func paths(_ kind: SyncEvent.Kind) -> [String] {
        all.filter { $0.event == kind }.compactMap(\.path).sorted()
    }
}

extension MemoryRemote {
    /// Stores a text in the shared folder, whatever is there.
    @inline(never)
    func write(_ path: String, _ text: String) async throws {
        _ = try await put(
            .bytes(Array(text.utf8)), at: RemotePath("/byteclub/" + path), condition: .overwrite, policy: .fail,
            progress: nil)
    }

    /// A text in the shared folder; nil when it is gone.
    @inline(never)
    func text(_ path: String) async throws -> String? {
        do {
            let found = try await content(
                at: RemotePath("/byteclub/" + path), revision: nil, range: nil, limit: 1 << 20)
            return Fixture.text(found.bytes)
        } catch let error as RemoteError where error.code == .notFound {
            return nil
        }
    }

    @inline(never)
    func remove(_ path: String) async throws {
        _ = try await delete(RemotePath("/byteclub/" + path), ifUnchangedSince: nil)
    }

    /// All that is in the shared folder: files with their text, folders with a slash.
    @inline(never)
    func files() async throws -> [String: String] {
        var result: [String: String] = [:]
        var cursor: String?
        while true {
            let page = try await delta(after: cursor, prefix: RemotePath("/byteclub"))
            for entry in page.entries {
                guard let metadata = entry.metadata, entry.key.string != "/byteclub" else { continue }
                let path = String(metadata.path.string.dropFirst("/byteclub/".count))
                if metadata.isFolder { result[path + "/"] = "" } else { result[path] = try await text(path) }
            }
            cursor = page.cursor
            if !page.hasMore { return result }
        }
    }
}
