import ByteClubFiles
import Glibc

/// The commands of sessions: a file for each session, so that damage affects one.
extension TaskFolder {
    private static let relaunchKind = "bgagain1"
    private static let relaunchSuffix = ".relaunch"
    /// The longest valid content, with room for the lengths of its texts.
    private static let mostRelaunchBytes = 128 << 10

    /// The file of a session's command; identifiers may be longer than names of files, and contain other characters.
    func relaunchFile(_ identifier: String) -> String { "\(path)/\(Self.relaunchName(identifier))" }

    /// Writes a session's command durably.
    ///
    /// - Throws: ``TransferError/Code/cannotWriteFile``, and leaves the file unchanged.
    func save(_ record: RelaunchRecord) throws(TransferError) {
        let file = relaunchFile(record.identifier)
        do throws(SealedFile.Failure) {
            try SealedFile.write(record.encoded, kind: Self.relaunchKind, to: file, isDurable: true)
            try SealedFile.syncFolder(of: file)
        } catch { throw TransferError(.cannotWriteFile, error.message, phase: .file) }
    }

    /// Removes a session's command.
    func removeRelaunch(_ identifier: String) { unsafe unlink(relaunchFile(identifier)) }

    /// Reads the commands of all sessions, and moves damaged files away.
    ///
    /// - Returns: The commands, and a line for people about each damaged file.
    func relaunches() -> (records: [RelaunchRecord], damage: [String]) {
        guard let names = try? Array(FolderNames(path)) else { return ([], []) }
        var records: [RelaunchRecord] = []
        var damage: [String] = []
        for name in names.sorted() where name.hasSuffix(Self.relaunchSuffix) {
            let file = "\(path)/\(name)"
            switch sealed(file, Self.relaunchKind, as: RelaunchRecord.self, limit: Self.mostRelaunchBytes) {
            case .value(let record) where Self.relaunchName(record.identifier) == name && (try? record.check()) != nil:
                records.append(record)
            case .value, .damaged:
                damage.append("the command of a session is damaged and is not used; \(move(name))")
            case .unreadable(let code):
                damage.append("the command of a session in '\(file)' cannot be read: \(systemMessage(code))")
            case .missing: break
            }
        }
        return (records, damage)
    }

    private static func relaunchName(_ identifier: String) -> String {
        Checksum.sha256(Array(identifier.utf8)).hexadecimal + relaunchSuffix
    }
}
