import ArgumentParser
import ByteClubHTTP

/// Holds downloads.
struct PauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Holds downloads; what came is kept.")

    @Argument(help: "The episodes' numbers.") var numbers: [Int]

    func run() async throws { try await change(numbers, .pause) }
}

/// Lets held downloads go on.
struct ResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Lets downloads go on that are paused or failed.")

    @Argument(help: "The episodes' numbers.") var numbers: [Int]

    func run() async throws { try await change(numbers, .resume) }
}

/// Gives downloads up.
struct CancelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Gives downloads up; what came is dropped.")

    @Argument(help: "The episodes' numbers.") var numbers: [Int]

    func run() async throws { try await change(numbers, .cancel) }
}

/// Changes downloads, all of them or none, and returns when they stand like that.
private func change(_ numbers: [Int], _ change: BackgroundChange) async throws {
    let library = try Library()
    let podcast = try library.podcast()
    let control = try await BackgroundControl(library.service)
    let tasks = try await Downloads.byFile(control)
    let ids = try numbers.map { number in
        guard let task = try podcast.episode(number).file.flatMap({ tasks[$0] }), task.state != .done else {
            throw Failure(.noInput, "episode \(number) is not being downloaded")
        }
        return task.id
    }
    try await control.change(ids, change)
    await control.close()
}

extension Podcast {
    /// The episode with a number.
    ///
    /// - Throws: ``Failure`` when there is none.
    func episode(_ number: Int) throws -> Episode {
        guard let episode = episodes.first(where: { $0.number == number }) else {
            throw Failure(.noInput, "there is no episode \(number): see 'singlecast episodes'")
        }
        return episode
    }
}
