import ByteClubCore
import FoundationEssentials
import Glibc

/// Completions for the commands of `byteclub-server`, which describes them itself.
struct HostCompletion: Sendable {
    /// The words before the current one, without the program's name.
    let words: [String]
    /// The part of the word typed so far.
    let typed: String

    /// Possible completions of a word.
    enum Offer: Hashable, Sendable {
        /// One of these.
        case words([String])
        /// A file or directory.
        case path
    }

    /// Asks `byteclub-server`; nil when it is not installed.
    func offer(_ context: Context) -> Offer? {
        let programs = SiblingProgram.server.candidates(context.environment, executable: context.executable)
        guard let program = programs.first(where: { unsafe access($0, X_OK) == 0 }),
            let root = try? JSONDecoder().decode(Description.self, from: Data(Self.output(of: program))).command
        else { return nil }
        return offer(root)
    }

    /// The completions that a program's command offers.
    func offer(_ root: HostCommand) -> Offer {
        var (command, isCommand) = (root, true)
        for word in words {
            if isCommand, let next = command.subcommands?.first(where: { $0.commandName == word }) { command = next }
            isCommand = isCommand && !word.hasPrefix("-")
        }
        let options = (command.arguments ?? []).filter { $0.shouldDisplay ?? true }
        if let last = words.last, let option = options.first(where: { $0.kind == "option" && $0.words.contains(last) })
        {
            return option.isPath ? .path : .words(option.allValues ?? [])
        }
        let names = options.flatMap(\.words)
        if typed.hasPrefix("-") { return .words(names) }
        let below = (command.subcommands ?? []).filter { $0.shouldDisplay ?? true }.map(\.commandName)
        if !below.isEmpty, command.commandName != root.commandName { return .words(below) }
        return options.contains { $0.kind == "positional" && $0.isPath } ? .path : .words(names)
    }

    /// The program's description of its commands, as ArgumentParser writes it for tools.
    private static func output(of program: String) -> [UInt8] {
        let command = "exec \(ShellWord.quoted(program)) --experimental-dump-help 2>/dev/null"
        guard let pipe = unsafe popen(command, "r") else { return [] }
        defer { unsafe _ = pclose(pipe) }
        var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
        while true {
            let count = unsafe fread(&buffer, 1, buffer.count, pipe)
            if count == 0 { return bytes }
            bytes += buffer.prefix(count)
        }
    }

    /// The JSON object around a program's description.
    private struct Description: Decodable {
        var command: HostCommand
    }
}

/// A command as the argument parser describes it to tools.
struct HostCommand: Decodable {
    /// An argument of a command.
    struct Argument: Decodable {
        /// A name without dashes; its kind is `long` or `short`.
        struct Name: Decodable {
            var kind: String
            var name: String
        }

        var names: [Name]?
        /// `option`, `flag` or `positional`.
        var kind: String
        var valueName: String?
        /// Its possible values, if it has a fixed set.
        var allValues: [String]?
        var shouldDisplay: Bool?

        /// The names as they are typed, as in `--data`.
        var words: [String] { (names ?? []).map { ($0.kind == "long" ? "--" : "-") + $0.name } }
        var isPath: Bool {
            (allValues ?? []).isEmpty && ["dir", "file", "source", "target"].contains(valueName)
        }
    }

    var commandName: String
    var subcommands: [HostCommand]?
    var arguments: [Argument]?
    var shouldDisplay: Bool?
}
