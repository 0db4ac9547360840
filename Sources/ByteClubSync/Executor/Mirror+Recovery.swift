import ByteClubCore
import CLinux
import Glibc

extension Mirror {
    /// Finds out how far an engine came that was stopped in the middle, and clears up what it left.
    ///
    /// What is in staging or trash against an intent's word is somebody's edit, and goes back into the mirror.
    func recover() throws {
        guard let area else { return }
        let intents = try store.intents()
        for intent in intents {
            switch intent.verb {
            case .replace: try finishReplacement(intent, area)
            case .discard: try finishDiscard(intent, area)
            }
        }
        try recognizeReceived()
        if !intents.isEmpty {
            try store.transaction { try MirrorStore.removeIntents($0, intents.map(\.op)) }
        }
        try clearStaging(area)
    }

    private func finishReplacement(_ intent: Intent, _ area: PrivateArea) throws {
        for name in [intent.stage, intent.stage + ".old"] {
            guard let status = try area.staging.status(of: name), status.st_mode & S_IFMT == S_IFREG else { continue }
            let hash = try ContentReader.hash(of: area.staging.open(name, O_RDONLY | O_NONBLOCK))
            if hash == intent.target {
                // The new content never came into its place: it is fetched again.
                try area.staging.remove(name)
            } else if hash == intent.expected {
                try area.discard(name, from: area.staging, as: intent.path)
            } else if let place = try? place(of: intent.path) {
                // An edit that was made between the plan and the exchange.
                try putBack(name, from: area.staging, to: place.directory, path: intent.path, hash: hash)
            } else {
                try area.discard(name, from: area.staging, as: intent.path)
            }
        }
    }

    private func finishDiscard(_ intent: Intent, _ area: PrivateArea) throws {
        guard let (trash, name) = area.placeInTrash(intent.stage), let status = try trash.status(of: name),
            status.st_mode & S_IFMT == S_IFREG
        else { return }
        let hash = try ContentReader.hash(of: trash.open(name, O_RDONLY | O_NONBLOCK))
        guard hash != intent.expected, let place = try? place(of: intent.path) else { return }
        try putBack(name, from: trash, to: place.directory, path: intent.path, hash: hash)
    }

    /// Removes downloads that never came into place; anything unknown goes into the trash.
    private func clearStaging(_ area: PrivateArea) throws {
        let listing = try DirectoryListing(area.staging, path: "staging")
        for entry in listing.entries {
            if entry.mode == S_IFREG, entry.name.hasPrefix("c-") || entry.name.hasSuffix(".part") {
                try area.staging.remove(entry.name)
            } else {
                try area.discard(entry.name, from: area.staging, as: "staging/" + entry.name)
            }
        }
    }
}
