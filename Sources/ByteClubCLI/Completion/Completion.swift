import ArgumentParser
import ByteClubCore
import ByteClubHTTP

extension CompletionKind {
    /// Names that ``Completion`` looks up on a shell's request.
    static var names: CompletionKind { .custom { _, _, _ in [] } }
}

/// A shell's request for completions of a word.
///
/// A completion script calls `byteclub ---completion notes edit -- positional@0 INDEX CURSOR WORD…`, with the words as
/// typed, quotes included.
struct Completion: Sendable {
    /// The command, as in `["notes", "edit"]`.
    private let command: [String]
    /// The beginning of the word without quotes, up to its last slash, as in `Trips/`.
    private let folder: String
    /// The previous words without quotes, after the program's name.
    private let words: [String]
    /// The part of the word typed so far, without quotes.
    private let typed: String
    private let context: Context

    /// Parses a completion script's request; nil for another command line.
    init?(_ context: Context) {
        let arguments = context.arguments
        guard arguments.first == "---completion", let end = arguments.firstIndex(of: "--"), end + 2 < arguments.count,
            let index = Int(arguments[end + 2])
        else { return nil }
        command = Array(arguments[1..<end])
        let words = arguments.dropFirst(end + 4)
        let plain = words.map { word in
            String(word.unicodeScalars.filter { !"'\"\\".unicodeScalars.contains($0) })
        }
        let typed = index > 0 ? plain.dropFirst(index).first ?? "" : ""
        self.typed = typed
        self.words = Array(plain.dropFirst().prefix(max(0, index - 1)))
        folder = typed.lastIndex(of: "/").map { String(typed[...$0]) } ?? ""
        self.context = context
    }

    /// Prints the completions in the shell's format; nothing without any, and after an error.
    func answer() async {
        let shell = context.environment["SAP_SHELL"] ?? ""
        var lines = await names().filter { Self.isOffered($0, to: shell) }.map { Self.written($0, for: shell) }
        // zsh's script discards the last line.
        if shell == "zsh" { lines.append(" ") }
        if !lines.isEmpty { try? context.output.line(lines.joined(separator: "\n")) }
    }

    /// Whether a shell can insert a name: one line without control characters.
    ///
    /// bash inserts `$` and backquotes unquoted and would run a name chosen by another member; it expands a leading
    /// `~`.
    private static func isOffered(_ name: String, to shell: String) -> Bool {
        guard name == Failure.line(name), !name.utf8.contains(where: { $0 < 0x20 }) else { return false }
        guard shell == "bash" else { return true }
        return !name.hasPrefix("~") && !name.utf8.contains { $0 == UInt8(ascii: "$") || $0 == UInt8(ascii: "`") }
    }

    /// Quotes a name for the shell's script: bash expands completions, and zsh reads text after a colon as a
    /// description.
    static func written(_ name: String, for shell: String) -> String {
        switch shell {
        case "bash": ShellWord.quoted(name)
        case "zsh": name.replacing("\\", with: "\\\\").replacing(":", with: "\\:")
        default: name
        }
    }

    private func names() async -> [String] {
        switch command.first {
        case "notes": await entries(\.notes)
        case "photos": await entries { try $0.photos }
        case "share", "restore", "open": await entries(\.folder)
        case "conflicts": conflicts()
        case "why", "log": local()
        case "unlink", "status": folder.isEmpty || folder.hasPrefix("/") ? MirrorRegistry(context).mirrors : []
        case "transfers": await transfers()
        default: hostingCommand == nil ? [] : hosting()
        }
    }

    /// The command of `byteclub-server` that is being completed; nil for another one.
    private var hostingCommand: (any HostingCommand.Type)? {
        RootCommand.command(in: Array(command.prefix(1))).type as? any HostingCommand.Type
    }

    /// Completions by `byteclub-server`; its subcommands where it is not installed.
    private func hosting() -> [String] {
        switch HostCompletion(words: words, typed: typed).offer(context) {
        case .words(let found): return found
        case .path:
            guard let current = try? context.workingDirectory() else { return [] }
            return Self.listed(in: folder.hasPrefix("/") ? folder : current + "/" + folder).map { folder + $0 }
        case nil:
            guard words.count == 1 else { return [] }
            return hostingCommand?.subcommands ?? []
        }
    }

    /// The transfers of a running daemon; none is started.
    private func transfers() async -> [String] {
        let service = context.directories.transferService
        let all = await inTime {
            let control = try await BackgroundControl.running(service)
            return try await control?.tasks()
        }
        guard let all else { return [] }
        let ids = TransferIDs(all.map(\.id))
        return all.filter { command.last != "wait" || !$0.isFinished }.map { ids.short($0.id) }
    }

    /// The result of a lookup; nil when it fails or exceeds the patience of a user who is typing.
    private func inTime<Found: Sendable>(_ find: @escaping @Sendable () async throws -> Found?) async -> Found? {
        await withTaskGroup(of: Found?.self) { group in
            group.addTask { try? await find() }
            group.addTask {
                try? await Task.sleep(for: context.completionPatience)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }

    /// Names on the server in the typed folder; names in the mirror when the server does not answer in time.
    private func entries(_ root: @Sendable (Login) throws -> RemotePath) async -> [String] {
        guard let login = try? context.login(flags: Settings()), let root = try? root(login),
            let path = folder.isEmpty ? root : try? RemotePath("\(root)/\(folder.dropLast())")
        else { return [] }
        let (folder, wantsDeleted) = (folder, ["history", "restore"].contains(command.last))
        let (wantsFolders, context) = ([["notes", "list"], ["photos", "list"]].contains(command), context)
        let found = await inTime {
            let remote = try context.connector.open(login, .notes)
            let listed = try await remote.list(path, unless: nil, includeDeleted: wantsDeleted)
            return (listed?.contents ?? []).filter { $0.isFolder || !wantsFolders }
                .map { folder + $0.path.name + ($0.isFolder ? "/" : "") }
        }
        if let found { return found }
        guard let place = try? MirrorPlace(nil, context), let bound = place.boundFolder,
            path.key == bound.key || path.key.isBelow(bound.key)
        else { return [] }
        let below = path.components.dropFirst(bound.components.count).map { "/" + $0 }.joined()
        return Self.listed(in: place.directory + below).filter { !wantsFolders || $0.hasSuffix("/") }
            .map { folder + $0 }
    }

    /// Names in the mirror in the typed folder, relative to the working directory, else to the mirror's root.
    private func local() -> [String] {
        guard let place = try? MirrorPlace(nil, around: folder.isEmpty ? nil : folder, context),
            let current = try? context.workingDirectory()
        else { return [] }
        let isInside = current == place.directory || current.hasPrefix(place.directory + "/")
        let base = folder.hasPrefix("/") ? "" : (isInside ? current : place.directory) + "/"
        return Self.listed(in: base + folder).map { folder + $0 }
    }

    private func conflicts() -> [String] {
        guard let engine = context.engine else {
            do { try SiblingProgram.mirror.become(context.arguments, context) } catch { return [] }
        }
        guard let place = try? MirrorPlace(nil, context), place.isKnown,
            let conflicts = try? engine.conflicts(of: place.configuration, all: false)
        else { return [] }
        return conflicts.flatMap { [$0.path, $0.copy] }
    }

    /// The names in a directory of a mirror, folders with a trailing slash.
    private static func listed(in directory: String) -> [String] {
        LocalFile.names(in: directory).filter { $0 != ".byteclub" }
            .map { $0 + (LocalFile.isDirectory(directory + "/" + $0) ? "/" : "") }.sorted()
    }
}
