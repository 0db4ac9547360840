import ByteClubCore

/// Downloads contents and installs them: those that came inline with the feed, and those that must be requested.
struct ContentFetcher {
    /// A wanted content: its item and its location.
    typealias Wanted = (item: ItemID, location: Location)
    private typealias Known = (item: Item, location: Location, remote: RemoteState)

    /// The most bytes of contents that are held in memory at once.
    private static let groupBytes: Int64 = 4 << 20
    private static let groupFiles = 2_000
    /// The most bytes of contents that are installed together.
    private static let stagedBytes: Int64 = 64 << 20
    /// The most bytes of photos that are on their way at once: each is in memory until it is in staging.
    private static let travellingBytes: Int64 = 16 << 20
    /// How many items with inline contents are planned at once.
    private static let planned = 4_096
    static let anotherContent = "the server sent content that differs from its metadata"

    let context: SyncContext
    let replica: any RemoteReplica
    let local: LocalReplica

    var store: any TreeStore { context.store }
    private var bulk: BulkInstaller { local.bulk }

    /// Downloads and installs contents; large ones become transfer requests.
    ///
    /// - Throws: ``RemoteError`` when no other call would succeed, ``FileError``, and the store's errors.
    func fetch(_ wanted: [Wanted], _ report: inout SyncReport) async throws {
        if wanted.isEmpty { return }
        do {
            try await fetchGroups(wanted, &report)
            try await bulk.settle(&report)
        } catch {
            try? await bulk.settle(&report)
            throw error
        }
    }

    /// Installs the inline contents of a part of the feed, before the next part is read; `arrived` are its entries.
    func installInline(_ arrived: Set<ItemID>, missing: Set<ItemID>, _ report: inout SyncReport) async throws {
        if replica.inlineContents.isEmpty { return }
        let underWay = bulk.items
        let view = UnconfirmedView(base: store, unconfirmed: missing)
        var rest = arrived.sorted()[...]
        while !rest.isEmpty {
            let new = try rest.prefix(Self.planned).filter { id in
                guard !underWay.contains(id), let item = try store.item(id) else { return false }
                return item.local == nil && item.synced == nil && item.remote != nil
            }
            rest = rest.dropFirst(Self.planned)
            if new.isEmpty { continue }
            let plan = try store.reading { try Planner.plan(new, in: view) }
            for batch in try BlockedNames(store).allowed(of: plan.batches) {
                try local.mover.makeFolders(
                    batch.compactMap { operation in
                        if case .disk(let id, .makeFolder(let location)) = operation { (id, location) } else { nil }
                    }, &report)
                let ready = try store.reading {
                    try batch.compactMap { operation -> Wanted? in
                        guard case .disk(let id, .download(let location)) = operation,
                            let hash = try store.item(id)?.remote?.hash,
                            replica.inlineContents.content(hash) != nil
                        else { return nil }
                        return (id, location)
                    }
                }
                try await fetchGroups(ready, &report)
            }
        }
        replica.inlineContents.clear()
    }

    private func fetchGroups(_ wanted: [Wanted], _ report: inout SyncReport) async throws {
        var rest = wanted[...]
        while !rest.isEmpty, report.failure == nil {
            var group: [Known] = []
            var present: [ItemID] = []
            var size: Int64 = 0
            var held: Int64 = 0
            try store.reading {
                while let next = rest.first, group.count + present.count < Self.groupFiles,
                    size < Self.stagedBytes, held < Self.groupBytes
                {
                    rest.removeFirst()
                    guard let item = try store.item(next.item), let remote = item.remote, !remote.isFolder else {
                        continue
                    }
                    if let hash = remote.hash, hash == item.local?.hash, item.differsInExecutable {
                        present.append(item.id)
                        continue
                    }
                    if remote.size > (remote.hash == nil ? SyncBatch.maximumInlineBytes : context.groupedBytes) {
                        report.transfers.append(TransferRequest(item: item.id, kind: .download(to: next.location)))
                        continue
                    }
                    size += remote.size
                    if remote.size <= SyncBatch.maximumInlineBytes { held += remote.size }
                    group.append((item, next.location, remote))
                }
            }
            try local.installer.setExecutable(present, &report)
            if group.isEmpty { continue }
            guard try context.hasRoom(for: size, group.map(\.item.id), &report) else { return }
            try await fetch(group, &report)
        }
    }

    private func fetch(_ group: [Known], _ report: inout SyncReport) async throws {
        var missing: [Known] = []
        var contents: [StagedContent] = []
        for one in group {
            if let hash = one.remote.hash, let bytes = replica.inlineContents.content(hash) {
                contents.append(
                    StagedContent(item: one.item, location: one.location, remote: one.remote, hash: hash, bytes: bytes))
            } else {
                missing.append(one)
            }
        }
        if !missing.isEmpty { contents += try await ask(missing, &report) }
        try await bulk.install(contents, &report)
    }

    /// The outcome of a download.
    private enum Answer: Sendable {
        case staged(StagedContent)
        case another
        case refused(RemoteError)
        case failed(FileError)
    }

    /// Downloads contents, several at a time; those that are no notes go to staging as they come.
    private func ask(_ wanted: [Known], _ report: inout SyncReport) async throws -> [StagedContent] {
        var contents: [StagedContent] = []
        let (remote, staging) = (replica.tree.remote, local.control.staging)
        try await withThrowingTaskGroup(of: (Int, Answer).self) { group in
            var next = 0
            var underWay = 0
            var travelling: Int64 = 0
            while true {
                while underWay < context.configuration.parallelTransfers, next < wanted.count, report.failure == nil,
                    underWay == 0 || travelling + wanted[next].remote.size <= Self.travellingBytes
                {
                    let index = next
                    let path = try replica.tree.path(of: wanted[index].item.id, &report)
                    let (item, location, reported) = wanted[index]
                    next += 1
                    underWay += 1
                    travelling += reported.size
                    group.addTask {
                        await (index, Self.content(of: item, location, reported, at: path, remote, staging))
                    }
                }
                guard let (index, answer) = try await group.next() else { return }
                underWay -= 1
                travelling -= wanted[index].remote.size
                let id = wanted[index].item.id
                switch answer {
                case .staged(let content): contents.append(content)
                case .another:
                    report.distrustFeed(.contentMismatch)
                    report.refuse(id, Self.anotherContent, .breach)
                case .refused(let error): try report.judge(error.asBreach, about: [id])
                case .failed(let error): report.refuse(id, in: nil, error)
                }
            }
        }
        return contents
    }

    private static func content(
        of item: Item, _ location: Location, _ reported: RemoteState, at path: RemotePath, _ remote: any Remote,
        _ staging: any DiskFolder
    ) async -> Answer {
        do throws(RemoteError) {
            let (bytes, metadata) = try await remote.content(
                at: path, revision: nil, range: nil, limit: Int(reported.size))
            // A remote has checked the bytes against the hash that it reports.
            let hash = metadata.contentHash ?? ContentHasher.hash(bytes)
            guard reported.hash == nil || hash == reported.hash else { return .another }
            var content = StagedContent(
                item: item, location: location, remote: reported, hash: hash, bytes: bytes)
            if reported.size <= SyncBatch.maximumInlineBytes { return .staged(content) }
            do throws(FileError) {
                try content.write(to: staging, durably: false)
                content.bytes = nil
                return .staged(content)
            } catch {
                return .failed(error)
            }
        } catch {
            return .refused(error)
        }
    }

    /// The server's content of an item; nil when it differs from the tree's.
    func content(of item: Item, _ reported: RemoteState, _ report: inout SyncReport) async throws -> [UInt8]? {
        if let hash = reported.hash, let bytes = replica.inlineContents.content(hash) { return bytes }
        let bytes = try await text(at: try replica.tree.path(of: item.id, &report), nil)
        if let bytes, reported.hash == nil || ContentHasher.hash(bytes) == reported.hash { return bytes }
        report.distrustFeed(.contentMismatch)
        return nil
    }

    /// The content that both sides had last.
    func base(of item: Item, _ base: SyncedState, _ report: inout SyncReport) async throws -> [UInt8]? {
        guard let hash = base.hash, base.size <= Int64(TextMerge.limit) else { return nil }
        guard let revision = base.revision, let path = try? replica.tree.path(of: item.id, &report) else { return nil }
        let bytes = try await text(at: path, revision)
        return bytes.map { ContentHasher.hash($0) } == hash ? bytes : nil
    }

    /// The server's content of a revision, or of the newest; nil when the server refuses it.
    private func text(at path: RemotePath, _ revision: Revision?) async throws(RemoteError) -> [UInt8]? {
        do {
            return try await replica.tree.remote.content(
                at: path, revision: revision, range: nil, limit: TextMerge.limit
            ).bytes
        } catch {
            if error.isRetryable || error.code == .cancelled || error.code == .unauthorized { throw error }
            return nil
        }
    }
}

extension RemoteError {
    /// The error of a failed download: more bytes than the feed announced are a protocol violation.
    var asBreach: RemoteError {
        code == .tooLarge ? RemoteError(.protocolViolation, "the server sends more bytes than announced") : self
    }
}
