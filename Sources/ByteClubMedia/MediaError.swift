/// Why a photo could not be read, made smaller or written.
public struct MediaError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure, for callers that decide by it.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Kind: String {
            case notAJPEG, damaged, tooLarge, tooSmall, unsupported, io
        }

        private let kind: Kind

        /// The bytes do not begin like a JPEG, nor like a PNG where that is accepted too.
        public static let notAJPEG = Code(kind: .notAJPEG)
        /// It begins like a JPEG, but its structure is broken before any picture can be shown.
        public static let damaged = Code(kind: .damaged)
        /// Decoding would cost more memory or time than allowed; nothing was decoded.
        public static let tooLarge = Code(kind: .tooLarge)
        /// The photo has too few pixels for the request; nothing was decoded.
        public static let tooSmall = Code(kind: .tooSmall)
        /// A JPEG of a kind that is not decoded here, for example lossless or 12-bit.
        public static let unsupported = Code(kind: .unsupported)
        /// The file could not be opened, read or written.
        public static let io = Code(kind: .io)

        /// The code's name, as in the source.
        public var description: String { kind.rawValue }
    }

    /// The kind of failure.
    public let code: Code
    /// One line for a person, without a final full stop.
    public let message: String

    /// Makes an error of this kind with one line of explanation.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message, without the code.
    public var description: String { message }
}
