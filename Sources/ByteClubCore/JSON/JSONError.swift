/// Why a text is not the JSON that was expected.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong.
    public enum Problem: Hashable, Sendable {
        /// The text is no JSON in UTF-8, or nested too deep, seen at this byte.
        case broken(offset: Int)
        /// A value is not of the kind that belongs there.
        case otherKind
        /// An object has no member of this name.
        case missing(String)
        /// A value is of the right kind but not a valid one.
        case invalid(String)
    }

    /// What is wrong.
    public let problem: Problem
    /// The names and indices that lead to the value, from the outside in.
    public private(set) var path: [String] = []

    /// Creates an error at the value that is being read.
    public init(_ problem: Problem) {
        self.problem = problem
    }

    /// The same error, seen from the object or array around it.
    func inside(_ name: String) -> JSONError {
        var error = self
        // A name that nobody knows may be as long as the text.
        error.path.insert(String(String.UnicodeScalarView(name.unicodeScalars.prefix(100))), at: 0)
        return error
    }

    /// A line for people that goes on after "…: ".
    public var description: String {
        let place = path.joined(separator: ".")
        return switch problem {
        case .broken(let offset): "invalid JSON at byte \(offset)"
        case .otherKind: path.isEmpty ? "it is of another type" : "'\(place)' is of another type"
        case .missing(let name): path.isEmpty ? "it has no '\(name)'" : "'\(place)' has no '\(name)'"
        case .invalid(let reason): path.isEmpty ? "it is \(reason)" : "'\(place)' is \(reason)"
        }
    }
}
