import ArgumentParser
import ByteClubCore

/// The command `byteclub sync deselect FOLDER…`.
struct SyncDeselectCommand: MirrorRequest {
    static let configuration = CommandConfiguration(
        commandName: "deselect",
        abstract: "Exclude folders from this mirror; they stay on the server and in other mirrors.",
        discussion: """
            The next sync, or a running one, moves a folder's local files to the mirror's trash once the server has \
            all of them.

            Examples:
              byteclub sync deselect photos/raw
              byteclub sync deselect Trips Archive --mirror ~/club
            """)

    @Argument(help: ArgumentHelp("Folders in the mirror.", valueName: "folder"), completion: .directory)
    var folders: [String]

    @OptionGroup var mirror: MirrorOptions
    @OptionGroup var outputOptions: OutputOptions
    var subject: String? { folders.first }

    func answer(_ engine: any MirrorEngine.Type, of place: MirrorPlace) throws -> SelectionChange {
        let paths = try folders.map { try place.folder($0, engine) }
        for path in paths { try engine.deselect(path, of: place.configuration) }
        return SelectionChange(directory: place.directory, deselected: paths, leftOut: try place.leftOut(engine))
    }
}

/// The command `byteclub sync select FOLDER…`.
struct SyncSelectCommand: MirrorRequest {
    static let configuration = CommandConfiguration(
        commandName: "select",
        abstract: "Include folders in this mirror again.",
        discussion: """
            The next sync, or a running one, downloads them.

            Example:
              byteclub sync select photos/raw
            """)

    @Argument(help: ArgumentHelp("Folders in the mirror.", valueName: "folder"), completion: .directory)
    var folders: [String]

    @OptionGroup var mirror: MirrorOptions
    @OptionGroup var outputOptions: OutputOptions
    var subject: String? { folders.first }

    func answer(_ engine: any MirrorEngine.Type, of place: MirrorPlace) throws -> SelectionChange {
        let paths = try folders.map { try place.folder($0, engine) }
        let leftOut = try place.leftOut(engine)
        for path in paths {
            let key = PathKey(folded: PathKey.fold(path))
            if let above = leftOut.first(where: { key.isBelow(PathKey(folded: PathKey.fold($0))) }) {
                throw Failure(
                    .badData,
                    "'\(path)' is in '\(above)', which is excluded; select that folder")
            }
        }
        for path in paths { try engine.select(path, of: place.configuration) }
        return SelectionChange(directory: place.directory, selected: paths, leftOut: try place.leftOut(engine))
    }
}

/// The command `byteclub sync selection [DIR]`.
struct SyncSelectionCommand: MirrorRequest {
    static let configuration = CommandConfiguration(
        commandName: "selection",
        abstract: "List the folders excluded from a mirror.",
        discussion: """
            Example:
              byteclub sync selection --json
            """)

    @OptionGroup var mirror: MirrorArgument
    @OptionGroup var outputOptions: OutputOptions

    func answer(_ engine: any MirrorEngine.Type, of place: MirrorPlace) throws -> SelectionChange {
        SelectionChange(directory: place.directory, leftOut: try place.leftOut(engine))
    }
}

/// The folders that a mirror excludes, and the latest change.
struct SelectionChange: CommandResult {
    var directory: String
    /// Folders that are included from now on, whether or not they were excluded before.
    var selected: [String]?
    /// Folders that are excluded from now on.
    var deselected: [String]?
    /// All folders that are left out.
    var leftOut: [String]

    func text(_ style: TextStyle) -> String {
        let lines: [String]
        if let deselected {
            lines = deselected.map {
                "\($0)/ is excluded from \(directory) and stays on the server; its local files go to the trash"
            }
        } else if let selected {
            lines = selected.map { "\($0)/ is included in \(directory)" }
        } else {
            lines = leftOut.isEmpty ? ["no excluded folders"] : leftOut.map { $0 + "/" }
        }
        return style.lines(lines)
    }
}

extension MirrorPlace {
    /// The excluded folders, spelt as on the server when known.
    func leftOut(_ engine: any MirrorEngine.Type) throws -> [String] {
        try engine.deselected(of: configuration).map { key in
            try engine.explain(key, of: configuration).compactMap { $0.server?.path }.first ?? key
        }
    }

    /// A folder's path relative to the mirror's root, if the mirror or the server has it.
    ///
    /// - Throws: ``Failure`` for the root, a file, and an unknown folder.
    func folder(_ name: String, _ engine: any MirrorEngine.Type) throws -> String {
        let path = try relative(name)
        if path.isEmpty { throw Failure(.badData, "'\(name)' is the whole mirror; name a folder in it") }
        let onDisk = directory + "/" + path
        if LocalFile.isDirectory(onDisk) { return path }
        let known = try engine.explain(path, of: configuration)
        let rows = known.flatMap { [$0.disk, $0.server, $0.synced].compactMap(\.self) }
        if rows.contains(where: \.isFolder) { return path }
        if !rows.isEmpty || LocalFile.exists(onDisk) {
            throw Failure(.badData, "'\(path)' is not a folder; use a pattern in .byteclubignore to exclude files")
        }
        if known.isEmpty { throw Failure(.noInput, "no '\(path)' in the mirror or on the server") }
        return path
    }
}
