import ArgumentParser
import ByteClubHTTP
import ExampleSupport
import FoundationEssentials
import HTTPTypes

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

        let refused = isAdding ? try await add(to: library) : 0
        if background {
            tell("the downloads go on in the background: 'singlecast status' shows them")
            if refused > 0 { throw Failure(.partlyDone, "\(refused) cannot be downloaded") }
            return
        }
        var follower = Follower(library)
        try await follower.follow()
        if isAdding { return try checkFiles(library, follower) }
        try follower.check()
        if follower.sawNothing {
            throw Failure(.usage, "nothing is under way: say what to download, by number or with --all")
        }
    }

    /// Throws a ``Failure`` unless all requested files exist, whichever program followed their downloads.
    private func checkFiles(_ library: Library, _ follower: Follower) throws {
        let wanted = try library.podcast().episodes.filter { (all && $0.file != nil) || numbers.contains($0.number) }
        let missing = wanted.count { EpisodeState($0, [:])?.state != "done" }
        guard missing > 0 else { return }
        try follower.checkDaemon()
        throw Failure(.partlyDone, "\(missing) of \(wanted.count) were not downloaded")
    }

    /// Adds the downloads that are neither complete nor running.
    ///
    /// The lock makes a second program see the downloads that the first one added. The path is saved before the
    /// download is submitted: if the program is killed between the two, neither file nor download exists for the path,
    /// so the next run downloads the episode.
    ///
    /// - Returns: The number of episodes that cannot be downloaded, for example because of an invalid URL.
    private func add(to library: Library) async throws -> Int {
        let control = try await BackgroundControl(library.service)
        let lock = try library.lock()
        var podcast = try library.podcast()
        let tasks = try await control.episodes()
        let folder = URL(filePath: folder, directoryHint: .isDirectory).standardizedFileURL.path
        var added: [Int] = []
        var resumed: [BackgroundTask.ID] = []
        for (index, episode) in podcast.episodes.enumerated() where all || numbers.contains(episode.number) {
            let state = EpisodeState(episode, tasks)
            switch (state?.state, episode.file.flatMap { tasks[$0] }) {
            case ("done", _): tell("episode \(episode.number) is there: \(state?.file ?? "")")
            case ("waiting", _), ("running", _): tell("episode \(episode.number) is on its way")
            case ("paused", let task?), ("failed", let task?): resumed.append(task.id)
            default:
                let path = (folder == "/" ? "" : folder) + "/" + episode.fileName
                (podcast.episodes[index].file, podcast.episodes[index].failure) = (path, nil)
                // The file may exist although the notes about it were lost.
                if sizeOfFile(path) != nil {
                    tell("episode \(episode.number) is there: \(path)")
                } else if tasks[path].map(\.isFinished) ?? true {
                    added.append(index)
                }
            }
        }
        if !added.isEmpty { try makeFolder(folder) }
        try library.save(podcast)
        var refused = 0
        for index in added {
            let episode = podcast.episodes[index]
            do { try await control.submit(episode) } catch let error as TransferError where error.code == .badRequest {
                refused += 1
                tell("episode \(episode.number) cannot be downloaded: \(error.message)")
                podcast.episodes[index].failure = error.message.inOneLine
            }
        }
        if refused > 0 { try library.save(podcast) }
        if !resumed.isEmpty { try await control.change(resumed, .resume) }
        lock.release()
        await control.close()
        return refused
    }
}

extension BackgroundControl {
    /// The identifier of the background session.
    static let identifier = "episodes"

    /// The daemon's downloads by file; of several downloads to a file the last one counts.
    func episodes() async throws -> [String: BackgroundStatus] {
        let tasks = try await tasks().filter { $0.identifier == Self.identifier }
        return Dictionary(tasks.compactMap { task in task.file.map { ($0, task) } }) { $1 }
    }

    /// Submits an episode's download, which is stored when this returns: it continues whatever happens to this program.
    func submit(_ episode: Episode) async throws {
        var options = BackgroundOptions()
        options.label = episode.title.prefix(bytes: 1000)
        let request = try HTTPRequest(url: episode.url)
        _ = try await submit(
            [BackgroundRequest(.download(request, to: episode.file ?? ""), options: options)],
            identifier: Self.identifier)
    }
}

extension BackgroundStatus {
    /// The path that the download writes to.
    var file: String? { if case .download(_, let path) = request.work { path } else { nil } }
}
