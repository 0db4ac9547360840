import ArgumentParser
import ByteClubCore
import ByteClubHTTP

extension CompletionKind {
    /// Names that ``Completion`` finds when a shell asks for them.
    static var names: CompletionKind { .custom { _, _, _ in [] } }
}

/// What a shell asks while somebody types: the names that a word may become.
///
/// A completion script calls `byteclub ---completion notes edit -- positional@0 INDEX CURSOR WORD…`, where the words are
/// as they were typed, quotes included.
struct Completion: Sendable {
    /// The command, as in `["notes", "edit"]`.
    private let command: [String]
    /// The word's beginning without quotes, up to its last slash, as in `Trips/`.
    private let folder: String
    /// The words before it without quotes, behind the program's name.
    private let words: [String]
    /// What is typed of it without quotes.
    private let typed: String
    private let context: Context

    /// Reads a completion script's question; nil when the command line is none.
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

    /// Prints the names, one a line, as the shell wants them; nothing when there are none, whatever the reason.
    func answer() async {
        let shell = context.environment["SAP_SHELL"] ?? ""
        var lines = await names().filter { Self.isOffered($0, to: shell) }.map { Self.written($0, for: shell) }
        // The script for zsh expects a last line to throw away.
        if shell == "zsh" { lines.append(" ") }
        if !lines.isEmpty { try? context.output.line(lines.joined(separator: "\n")) }
    }

    /// Whether a shell can be given a name: on one line, and with nothing in it that drives the terminal.
    ///
    /// bash leaves `$` and backquotes as they are in the line that it completes, and would run what another member
    /// wrote there; a `~` at the beginning it takes for somebody's home.
    private static func isOffered(_ name: String, to shell: String) -> Bool {
        guard name == Failure.line(name), !name.utf8.contains(where: { $0 < 0x20 }) else { return false }
        guard shell == "bash" else { return true }
        return !name.hasPrefix("~") && !name.utf8.contains { $0 == UInt8(ascii: "$") || $0 == UInt8(ascii: "`") }
    }

    /// A name so that the shell's script makes the very name of it again: bash expands the list, substitutions included,
    /// and zsh takes what follows a colon for a description.
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
        case "serve", "members", "apps", "backup", "verify": hosting()
        default: []
        }
    }

    /// What the server's program takes; without that program the commands that are known of it.
    private func hosting() -> [String] {
        switch HostCompletion(words: words, typed: typed).offer(context) {
        case .words(let found): return found
        case .path:
            guard let current = try? context.workingDirectory() else { return [] }
            return Self.listed(in: folder.hasPrefix("/") ? folder : current + "/" + folder).map { folder + $0 }
        case nil:
            guard words.count == 1 else { return [] }
            return ["members": MembersCommand.subcommands, "apps": AppsCommand.subcommands][words.first ?? ""] ?? []
        }
    }

    /// The transfers that a daemon knows; none is started for that.
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

    /// What is found while somebody waits who types; nil when that takes too long, or goes wrong.
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

    /// What the server has in the folder that was typed; when it does not answer in time, what the mirror has there.
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

    /// What a mirror has in the folder that was typed, which begins where the shell is, else at the mirror's root.
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

    /// The names in a directory of a mirror, folders with a slash at their end.
    private static func listed(in directory: String) -> [String] {
        LocalFile.names(in: directory).filter { $0 != ".byteclub" }
            .map { $0 + (LocalFile.isDirectory(directory + "/" + $0) ? "/" : "") }.sorted()
    }
}
