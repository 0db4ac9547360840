import ArgumentParser
import ByteClubHTTP

/// The downloads that a command names.
struct ChosenDownloads: ParsableArguments {
    @Argument(help: "A download's ID, or the beginning of one, or the track's number.") var id: [String]

    /// Changes the downloads, all or none.
    ///
    /// - Parameters:
    ///   - change: What to do with them.
    ///   - states: Those that it can be done in.
    /// - Throws: ``Failure``, for example when an ID names nothing, or several downloads.
    func change(_ change: BackgroundChange, of states: Set<BackgroundStatus.State>) async throws {
        let downloads = try await BackgroundDownloads.open()
        let all = try await downloads.all()
        var found: [BackgroundDownload] = []
        for word in id {
            let download = try Self.find(word, in: all, of: states)
            if !found.contains(where: { $0.status.id == download.status.id }) { found.append(download) }
        }
        try await downloads.change(found, change)
    }

    /// The download that a word names.
    private static func find(
        _ word: String, in all: [BackgroundDownload], of states: Set<BackgroundStatus.State>
    ) throws -> BackgroundDownload {
        var named = all.filter { "\($0.trackID)" == word }
        if named.isEmpty {
            named = all.filter { !word.isEmpty && $0.status.id.description.hasPrefix(word.lowercased()) }
        }
        let fit = named.filter { states.contains($0.status.state) }
        if fit.count > 1 {
            let ids = fit.map { $0.status.id.description }.joined(separator: ", ")
            throw Failure(.usage, "'\(word.printable)' names several downloads: \(ids)")
        }
        if let download = fit.first { return download }
        guard let ended = named.last else {
            throw Failure(.notFound, "there is no download '\(word.printable)'; 'halftunes downloads' lists them")
        }
        throw Failure(.notFound, "'\(ended.name.printable)' is \(ended.status.state.rawValue) already")
    }
}
