import Glibc

/// An error of a local file operation.
struct FileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// An operation on a file.
    enum Action: String, Sendable {
        case read, write, create, remove
    }

    /// The operation that failed.
    var action: Action
    /// The file.
    var path: String
    /// The system's error number.
    var number: Int32

    init(_ action: Action, _ path: String, _ number: Int32 = errno) {
        self.action = action
        self.path = path
        self.number = number
    }

    /// Which exit code this failure is.
    var status: ExitStatus {
        switch (action, number) {
        case (_, ENOSPC), (_, EDQUOT), (_, EIO): .inputOutput
        case (.read, _): .noInput
        case (.create, _): .cannotCreate
        default: .inputOutput
        }
    }

    /// One line for people.
    var description: String {
        "cannot \(action.rawValue) '\(path)': \(unsafe String(cString: strerror(number)))"
    }
}
