import ByteClubCore
import Glibc
import NIOCore

/// Why a command ends: one line for people, and an exit code for scripts.
struct CommandFailure: Error {
    /// The exit codes of sysexits.h.
    enum Code: Int32 {
        /// The arguments are wrong.
        case usage = 64
        /// The input is bad.
        case data = 65
        /// There is no such file.
        case noInput = 66
        /// Something that is needed is not to be had.
        case unavailable = 69
        /// The program is at fault.
        case software = 70
        /// A file cannot be created.
        case cannotCreate = 73
        /// The disk fails.
        case io = 74
        /// It may work later.
        case temporary = 75
        /// The settings do not fit together.
        case configuration = 78
    }

    /// The exit code.
    let code: Code
    /// The line.
    let message: String

    /// Creates a failure.
    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The failure for any error of a command; nil for errors of the arguments.
    init?(_ error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure
        case let error as StorageError: self.init(Self.code(for: error.code), error.message)
        case let error as IOError: self.init(.unavailable, error.description)
        default: return nil
        }
    }

    private static func code(for code: StorageError.Code) -> Code {
        switch code {
        case .full, .overQuota, .exists, .nameTaken: .cannotCreate
        case .missing, .noMember, .notFound: .noInput
        case .io: .io
        case .damaged, .badMember, .lastOwner: .data
        case .inUse, .closed, .tooMany: .temporary
        }
    }

    /// Writes the line and ends the program.
    func exit() -> Never {
        StandardError.write(line: "\(RootCommand.title): \(message)")
        Glibc.exit(code.rawValue)
    }
}
