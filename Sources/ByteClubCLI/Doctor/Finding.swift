import ByteClubFiles
import CLinux
import Glibc

/// The result of one check.
struct Finding: Hashable, Sendable, Encodable {
    /// The severity.
    enum Outcome: String, Sendable, Encodable, CaseIterable {
        /// Correct.
        case ok
        /// Works, but not well or not for long.
        case warn
        /// It does not work.
        case fail

        /// The same for a terminal.
        var state: TextStyle.State {
            switch self {
            case .ok: .good
            case .warn: .warning
            case .fail: .bad
            }
        }
    }

    /// The subject of the check, in a word.
    var check: String
    /// The severity.
    var outcome: Outcome
    /// The result in words.
    var message: String
    /// How to fix it; nil when nothing is wrong.
    var advice: String?
    /// The exit code when this is the first failure.
    var status = ExitStatus.configuration

    private enum CodingKeys: String, CodingKey { case check, outcome, message, advice }

    static func ok(_ check: String, _ message: String) -> Finding {
        Finding(check: check, outcome: .ok, message: message)
    }

    static func warn(_ check: String, _ message: String, _ advice: String) -> Finding {
        Finding(check: check, outcome: .warn, message: message, advice: advice)
    }

    static func fail(
        _ check: String, _ message: String, _ advice: String?, _ status: ExitStatus = .configuration
    ) -> Finding {
        Finding(check: check, outcome: .fail, message: message, advice: advice, status: status)
    }

    /// A failure of a lower layer, whose message includes the advice.
    static func fail(_ check: String, _ failure: Failure) -> Finding {
        let halves = failure.message.split(separator: ";", maxSplits: 1).map(String.init)
        let advice = halves.count > 1 ? String(halves[1].drop { $0 == " " }) : nil
        return fail(check, halves.first ?? failure.message, advice, failure.status)
    }
}

/// Facts from the operating system; nil when unavailable.
enum MachineFacts {
    /// A file's permissions.
    static func mode(_ path: String) -> mode_t? { FileStatus(path).map { $0.permissions & 0o777 } }

    /// The number in a file of `/proc`.
    static func number(in path: String) -> Int? {
        guard let bytes = try? LocalFile.read(path, limit: 64) else { return nil }
        return Int(String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
    }

    /// The free bytes for the user.
    static func freeBytes(_ path: String) -> Int64? {
        var status = statvfs()
        guard unsafe statvfs(path, &status) == 0 else { return nil }
        return Int64(clamping: status.f_bavail).multipliedReportingOverflow(by: Int64(status.f_frsize)).partialValue
    }
}
