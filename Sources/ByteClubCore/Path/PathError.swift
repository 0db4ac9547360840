/// Why a path or a name cannot be part of a shared folder.
public struct PathError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, in one line for people.
    public let message: String

    /// Creates an error with a line for people.
    public init(_ message: String) {
        self.message = message
    }

    /// The same line as ``message``.
    public var description: String { message }
}
