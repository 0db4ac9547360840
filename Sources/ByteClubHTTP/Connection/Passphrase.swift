/// A secret text that no description, dump or log shows.
public struct Passphrase: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private let read: @Sendable () throws -> String

    /// Takes the text itself.
    public init(_ text: String) { read = { text } }

    /// Takes a function that fetches the text, for example from a keyring.
    ///
    /// It is called once for each session, by the thread that makes the session; what it throws fails that.
    public init(reading text: @escaping @Sendable () throws -> String) { read = text }

    /// The text.
    func reveal() throws -> String { try read() }

    /// Not the text.
    public var description: String { "(secret)" }

    /// Not the text.
    public var debugDescription: String { description }

    /// Nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
