import ByteClubHTTP
import HTTPTypes

/// Why a command did not do what it was asked to.
struct Failure: Error {
    /// What scripts are told; see sysexits(3).
    enum Code: Int32 {
        case usage = 64
        case badData = 65
        case notFound = 66
        case unavailable = 69
        case software = 70
        case cannotWrite = 73
        case partlyDone = 75
        case interrupted = 130
        case terminated = 143
    }

    var code: Code
    /// What people are told: one line.
    var message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension Failure.Code {
    /// What an error of the library means to a script.
    init(_ error: TransferError) {
        switch error.code {
        case .unacceptableResponse where error.rejected?.response.status.code == 404: self = .notFound
        case .badRequest: self = .usage
        case .protocolViolation, .bodyTooLarge: self = .badData
        case .unknownTask: self = .notFound
        case .cannotWriteFile: self = .cannotWrite
        case .badConfiguration, .libraryMissing, .other: self = .software
        default: self = .unavailable
        }
    }
}
