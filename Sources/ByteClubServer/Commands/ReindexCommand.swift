import ArgumentParser
import Logging

/// `reindex`: has the server make the search index anew; works whether or not it runs.
struct ReindexCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reindex", abstract: "Rebuild the search index, when 'verify' finds it wrong.",
        discussion: """
            Only the index is changed. A running server starts rebuilding within a minute, a stopped one when it is \
            started; until it is done, text searches may miss notes.
            """)

    @OptionGroup var data: DataOption

    func run() async throws {
        let logger = Logger(label: "byteclub-server") { _ in SwiftLogNoOpLogHandler() }
        try await DataDirectory(path: data.data).reindex(logger: logger)
        StandardOutput.write(line: "the search index is empty; the server rebuilds it")
    }
}
