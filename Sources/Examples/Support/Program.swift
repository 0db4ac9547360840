package import ArgumentParser
package import ByteClubHTTP
import FoundationEssentials
import Glibc

/// An error that ends the program, with a message of one line and an exit code of sysexits(3).
package struct Failure: Error {
    /// The exit codes of the examples.
    package enum Code: Int32 {
        case usage = 64
        case badData = 65
        case notFound = 66
        case unavailable = 69
        case software = 70
        case cannotWrite = 73
        case inputOutput = 74
        case partlyDone = 75
        case interrupted = 130
        case terminated = 143

        /// The exit code for a failed transfer.
        package init(_ error: TransferError) {
            switch error.code {
            case .badRequest: self = .usage
            case .protocolViolation, .bodyTooLarge: self = .badData
            case .cannotWriteFile: self = .cannotWrite
            case .badConfiguration, .libraryMissing, .other: self = .software
            default: self = .unavailable
            }
        }
    }

    package var code: Code
    package var message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension AsyncParsableCommand {
    /// Runs the command that the program's arguments name; an error ends the program with its message and exit code.
    ///
    /// - Parameters:
    ///   - tell: Writes a line to standard error.
    ///   - code: The exit code for a failed transfer.
    package static func runProgram(
        tell: (String) -> Void, code: (TransferError) -> Failure.Code = { Failure.Code($0) }
    ) async {
        func end(_ message: String, _ code: Failure.Code) -> Never {
            tell("\(configuration.commandName ?? ""): \(message)")
            exit(withError: ExitCode(code.rawValue))
        }
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let failure as Failure {
            end(failure.message, failure.code)
        } catch let error as TransferError {
            end("\(error)", code(error))
        } catch {
            exit(withError: error)
        }
    }
}

extension BackgroundService {
    /// The service of a program that is its own daemon, with the command `daemon`.
    package static func ofThisProgram(_ name: String) throws -> BackgroundService {
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return try BackgroundService(name: name, command: [program, "daemon"])
    }
}
