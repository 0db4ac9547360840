/// An absolute path in a shared folder, always valid: each component keeps to ``NameRules``.
///
/// Two paths are equal when their text is; use ``key`` to ask whether they name the same entry.
public struct RemotePath: Hashable, Sendable, Encodable, CustomStringConvertible {
    /// The path's text: `/` for the root, else `/a/b` without a slash at the end.
    public let string: String
    /// What identifies the entry at this path.
    public let key: PathKey

    /// The root of the tree.
    public static let root = RemotePath(trusted: "/")

    private init(trusted string: String) {
        self.string = string
        key = PathKey(folded: PathKey.fold(string))
    }

    /// Reads a path, adding a missing slash at the start, collapsing repeated ones and dropping one at the end.
    ///
    /// - Throws: ``PathError`` naming the rule that the path breaks.
    public init(_ text: String) throws(PathError) {
        // No composition makes a text a quarter of its length; a longer one need not be composed to be refused.
        if text.utf8.count > 4 * NameRules.maximumPathBytes {
            throw PathError("a path cannot be longer than \(NameRules.maximumPathBytes) bytes")
        }
        let composed = PathKey.composed(text)
        var result = ""
        for component in composed.utf8.split(separator: UInt8(ascii: "/")) {
            let name = String(Substring(component))
            try NameRules.check(name)
            result += "/" + name
        }
        if result.utf8.count > NameRules.maximumPathBytes {
            throw PathError("a path cannot be longer than \(NameRules.maximumPathBytes) bytes")
        }
        self.init(trusted: result.isEmpty ? "/" : result)
    }

    /// The path of an entry of this folder.
    ///
    /// - Throws: ``PathError`` when `name` is not one valid component.
    public func appending(_ name: String) throws(PathError) -> RemotePath {
        let composed = PathKey.composed(name)
        try NameRules.check(composed)
        let joined = (isRoot ? "" : string) + "/" + composed
        if joined.utf8.count > NameRules.maximumPathBytes {
            throw PathError("a path cannot be longer than \(NameRules.maximumPathBytes) bytes")
        }
        return RemotePath(trusted: joined)
    }

    /// Whether this is the root.
    public var isRoot: Bool { string.utf8.count == 1 }

    /// The components from the root down, none for the root.
    public var components: [String] { string.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) } }

    /// The last component, empty for the root.
    public var name: String {
        guard let slash = string.utf8.lastIndex(of: UInt8(ascii: "/")) else { return string }
        return String(string[string.utf8.index(after: slash)...])
    }

    /// The folder that holds this entry, nil for the root.
    public var parent: RemotePath? {
        guard !isRoot, let slash = string.utf8.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        return slash == string.utf8.startIndex ? .root : RemotePath(trusted: String(string[..<slash]))
    }

    /// The same entry's path when the folder `old` above it becomes `new`; nil when it is not `old` or below it.
    public func rebased(from old: RemotePath, to new: RemotePath) -> RemotePath? {
        if key == old.key { return new }
        guard key.isBelow(old.key) else { return nil }
        let rest = components.dropFirst(old.components.count).joined(separator: "/")
        return RemotePath(trusted: (new.isRoot ? "" : new.string) + "/" + rest)
    }

    /// The same text as ``string``.
    public var description: String { string }

    /// Compares the text byte by byte.
    public static func == (left: RemotePath, right: RemotePath) -> Bool {
        left.string.utf8.elementsEqual(right.string.utf8)
    }

    /// Hashes the path's key.
    public func hash(into hasher: inout Hasher) { key.hash(into: &hasher) }

    /// Encodes the path as a string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(string)
    }
}

extension RemotePath: JSONReadable {
    /// Reads a path from a string and checks it.
    public init(json: inout JSONReader) throws(JSONError) {
        let text = try json.string()
        do {
            try self.init(text)
        } catch {
            throw JSONError(.invalid(error.message))
        }
    }
}

/// Why a path or a name cannot be part of a shared folder.
public struct PathError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The broken rule, in one line for people.
    public let message: String

    /// Creates an error with a line for people.
    public init(_ message: String) {
        self.message = message
    }

    /// The same line as ``message``.
    public var description: String { message }
}
