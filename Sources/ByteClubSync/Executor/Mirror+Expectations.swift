import ByteClubCore
import CLinux
import Glibc

extension Mirror {
    /// Notes down what is about to be sent.
    func expect(_ sent: [Node]) throws {
        let expectations = sent.compactMap { node in
            node.hash.map {
                Expectation(key: node.path.key, path: "", hash: $0, size: node.size, revision: nil)
            }
        }
        if expectations.isEmpty { return }
        try probe.before(.commit("expectations"))
        try store.transaction { try MirrorStore.expect($0, expectations) }
    }

    /// Takes for synced what the server turns out to hold of what was sent without an answer.
    func recognizeSent() throws {
        let sent = try store.expectations().filter { $0.revision == nil }
        if sent.isEmpty { return }
        try store.transaction { db in
            for expectation in sent {
                guard var row = try MirrorStore.row(db, expectation.key), !row.isSettled else {
                    try MirrorStore.stopExpecting(db, expectation.key)
                    continue
                }
                guard let remote = row.remote, !remote.isFolder, remote.hash == expectation.hash else { continue }
                row.synced = SyncedEntry(
                    isFolder: false, hash: expectation.hash, size: expectation.size, revision: remote.revision)
                try MirrorStore.save(db, row)
                try MirrorStore.stopExpecting(db, expectation.key)
            }
        }
    }

    /// Takes for synced what was received and had come into its place before the engine was stopped.
    func recognizeReceived() throws {
        let received = try store.expectations().filter { $0.revision != nil }
        if received.isEmpty { return }
        var found: [(expectation: Expectation, look: Look)] = []
        for expectation in received {
            guard let place = try? place(of: expectation.path),
                let file = try? place.directory.open(place.name, O_RDONLY | O_NONBLOCK),
                let status = try? file.status(), status.st_mode & S_IFMT == S_IFREG,
                Int64(status.st_size) == expectation.size, try ContentReader.hash(of: file) == expectation.hash
            else { continue }
            found.append((expectation, Look(status)))
        }
        try store.transaction { db in
            for (expectation, look) in found {
                var row = try MirrorStore.row(db, expectation.key) ?? MirrorRow(expectation.key)
                row.local = LocalEntry(
                    name: LocalPath.split(expectation.path).name, isFolder: false, hash: expectation.hash,
                    fingerprint: look.fingerprint, isRacy: look.isRacy)
                row.synced = SyncedEntry(
                    isFolder: false, hash: expectation.hash, size: expectation.size, revision: expectation.revision)
                row.isSwept = false
                try MirrorStore.save(db, row)
            }
            for expectation in received { try MirrorStore.stopExpecting(db, expectation.key) }
        }
    }
}
