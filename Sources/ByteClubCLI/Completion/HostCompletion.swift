import ByteClubCore
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
            let root = try? JSONReader.read(Description.self, from: Self.output(of: program)).command
        else { return nil }
        return offer(root)
    }

    /// The completions that a program's command offers.
    func offer(_ root: HostCommand) -> Offer {
        var (command, isCommand) = (root, true)
        for word in words {
            if isCommand, let next = command.subcommands.first(where: { $0.name == word }) { command = next }
            isCommand = isCommand && !word.hasPrefix("-")
        }
        let options = command.arguments.filter(\.isShown)
        if let last = words.last, let option = options.first(where: { $0.takesValue && $0.names.contains(last) }) {
            return option.isPath ? .path : .words(option.values)
        }
        let names = options.flatMap(\.names)
        if typed.hasPrefix("-") { return .words(names) }
        let below = command.subcommands.filter(\.isShown).map(\.name)
        if !below.isEmpty, command.name != root.name { return .words(below) }
        return options.contains { $0.isPositional && $0.isPath } ? .path : .words(names)
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
    private struct Description: JSONReadable {
        var command = HostCommand()

        init(json: inout JSONReader) throws(JSONError) {
            try json.object { json, name throws(JSONError) in
                if name == "command" { command = try json.value() } else { try json.skip() }
            }
        }
    }
}

/// A command as the argument parser describes it to tools.
struct HostCommand: JSONReadable, Hashable {
    /// An argument of a command.
    struct Argument: JSONReadable, Hashable {
        /// As they are typed, as in `--data`.
        var names: [String] = []
        /// `option`, `flag` or `positional`.
        var kind = ""
        var valueName = ""
        /// Its possible values, if it has a fixed set.
        var values: [String] = []
        var isShown = true

        var takesValue: Bool { kind == "option" }
        var isPositional: Bool { kind == "positional" }
        var isPath: Bool { values.isEmpty && ["dir", "file", "source", "target"].contains(valueName) }

        init(json: inout JSONReader) throws(JSONError) {
            try json.object { json, name throws(JSONError) in
                switch name {
                case "names":
                    try json.array { json throws(JSONError) in
                        var (kind, text) = ("", "")
                        try json.object { json, name throws(JSONError) in
                            switch name {
                            case "kind": kind = try json.string()
                            case "name": text = try json.string()
                            default: try json.skip()
                            }
                        }
                        names.append((kind == "long" ? "--" : "-") + text)
                    }
                case "kind": kind = try json.string()
                case "valueName": valueName = try json.string()
                case "allValues": try json.array { json throws(JSONError) in values.append(try json.string()) }
                case "shouldDisplay": isShown = try json.bool()
                default: try json.skip()
                }
            }
        }
    }

    var name = ""
    var subcommands: [HostCommand] = []
    var arguments: [Argument] = []
    var isShown = true

    /// A command without a name.
    init() {}

    init(json: inout JSONReader) throws(JSONError) {
        try json.object { json, name throws(JSONError) in
            switch name {
            case "commandName": self.name = try json.string()
            case "shouldDisplay": isShown = try json.bool()
            case "subcommands": try json.array { json throws(JSONError) in subcommands.append(try json.value()) }
            case "arguments": try json.array { json throws(JSONError) in arguments.append(try json.value()) }
            default: try json.skip()
            }
        }
    }
}
