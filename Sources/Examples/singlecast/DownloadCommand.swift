import ArgumentParser
import ByteClubHTTP
import FoundationEssentials
import Glibc

/// Downloads episodes, and follows the downloads to their end.
struct DownloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "download",
        abstract: "Downloads episodes; without a number it follows the downloads that are under way.",
        discussion: "Each file's path is printed when it is there. Downloads go on when this program is stopped.")

    @Argument(help: "The episodes' numbers.") var numbers: [Int] = []
    @Flag(help: "Downloads every episode that is not there yet.") var all = false
    @Flag(help: "Does not wait for the downloads.") var background = false
    @Option(name: [.customShort("o"), .customLong("output")], help: "The folder for the files.") var folder = "."

    func validate() throws {
        if all && !numbers.isEmpty { throw ValidationError("Give numbers or --all, not both.") }
        if background && !all && numbers.isEmpty { throw ValidationError("Say what to download: numbers, or --all.") }
    }

    func run() async throws {
        let library = try Library()
        let isAdding = all || !numbers.isEmpty
        let podcast = isAdding ? try await library.refreshed() : try library.podcast()
        for number in numbers { _ = try podcast.episode(number) }

        let downloads = try await Downloads.open(library.service)
        let refused = isAdding ? try await add(to: downloads, library) : 0
        if background {
            await downloads.close()
            tell("the downloads go on in the background: 'singlecast status' shows them")
            if refused > 0 { throw Failure(.partlyDone, "\(refused) cannot be downloaded") }
            return
        }
        var follower = Follower(library)
        switch downloads {
        case .session(let session):
            try await follower.follow(session)
            // What was told last counts as taken with this.
            await session.invalidate()
        case .control(let control):
            tell("another program follows the downloads; this one waits for it")
            await control.close()
            let session = try await Downloads.attach(library.service)
            try await follower.follow(session)
            await session.invalidate()
        }
        if isAdding { return try checkFiles(library, follower) }
        try follower.check()
        if follower.sawNothing {
            throw Failure(.badUsage, "nothing is under way: say what to download, by number or with --all")
        }
    }

    /// Throws a ``Failure`` unless what was asked for is there, whichever program followed it, and whatever else there was
    /// to follow.
    private func checkFiles(_ library: Library, _ follower: Follower) throws {
        let wanted = try library.podcast().episodes.filter { (all && $0.file != nil) || numbers.contains($0.number) }
        let missing = wanted.count { EpisodeState($0, [:])?.state != "done" }
        guard missing > 0 else { return }
        try follower.checkDaemon()
        throw Failure(.partlyDone, "\(missing) of \(wanted.count) were not downloaded")
    }

    /// Adds the downloads that are neither done nor under way.
    ///
    /// Under the lock, so that of two programs the second one finds what the first one added. The file's place is noted
    /// before the download is recorded: a program that is killed between the two leaves a note of a file that is not
    /// there and of which the daemon knows nothing, and so is downloaded the next time.
    ///
    /// - Returns: How many cannot be downloaded, since the feed says something of them that is no address, for example;
    ///   all others are added.
    private func add(to downloads: Downloads, _ library: Library) async throws -> Int {
        let lock = try library.lock()
        var podcast = try library.podcast()
        let tasks = try await downloads.byFile()
        let folder = URL(filePath: folder, directoryHint: .isDirectory).standardizedFileURL.path
        var added: [(Episode, String)] = []
        var resumed: [BackgroundTask.ID] = []
        for (index, episode) in podcast.episodes.enumerated() where all || numbers.contains(episode.number) {
            let state = EpisodeState(episode, tasks)
            switch (state?.state, episode.file.flatMap { tasks[$0] }) {
            case ("done", _): tell("episode \(episode.number) is there: \(state?.file ?? "")")
            case ("waiting", _), ("running", _): tell("episode \(episode.number) is on its way")
            case ("paused", let task?), ("failed", let task?): resumed.append(task.id)
            default:
                let path = (folder == "/" ? "" : folder) + "/" + episode.fileName
                podcast.episodes[index].file = path
                podcast.episodes[index].failure = nil
                // There although nothing is noted of it, for example when the notes were lost.
                if sizeOfFile(path) != nil {
                    tell("episode \(episode.number) is there: \(path)")
                } else if tasks[path].map(\.isFinished) ?? true {
                    added.append((episode, path))
                }
            }
        }
        if !added.isEmpty { try makeFolder(folder) }
        try library.save(podcast)
        var refused = 0
        for (episode, path) in added {
            do { try await downloads.add(episode, to: path) } catch let error as TransferError
                where error.code == .badRequest
            {
                refused += 1
                tell("episode \(episode.number) cannot be downloaded: \(error.message)")
                for index in podcast.episodes.indices where podcast.episodes[index].number == episode.number {
                    podcast.episodes[index].failure = error.message.printable
                }
            }
        }
        if refused > 0 { try library.save(podcast) }
        try await downloads.resume(resumed)
        lock.release()
        return refused
    }
}
