import Glibc

/// Why the system refused to do something with a file.
package struct FileFailure: Error, Hashable, CustomStringConvertible {
    /// The operation as a verb: `open`, `rename`.
    package let operation: String
    /// The file, as it is shown to people.
    package let path: String
    /// The system's error number.
    package let code: Int32

    /// Describes a refusal; without a number, that of the system call before.
    package init(_ operation: String, _ path: String, _ code: Int32 = errno) {
        self.operation = operation
        self.path = path
        self.code = code
    }

    /// The system's words for the error.
    package var reason: String { Self.reason(code) }

    /// One line for people.
    package var description: String { "cannot \(operation) '\(path)': \(reason)" }

    /// The system's words for an error number.
    package static func reason(_ code: Int32) -> String {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            guard let start = buffer.baseAddress, unsafe strerror_r(code, start, buffer.count) == 0 else {
                return "error \(code)"
            }
            return unsafe String(cString: start)
        }
    }
}

/// An error of another target that a refusal of the system becomes.
package protocol FileFailureConvertible: Error {
    /// Converts a refusal.
    init(_ failure: FileFailure)
}

extension FileFailure: FileFailureConvertible {
    package init(_ failure: FileFailure) { self = failure }
}
