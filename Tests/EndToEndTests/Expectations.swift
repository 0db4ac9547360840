import ByteClubCore
import TestSupport
import Testing

/// Syncs once and expects success.
func expectSynced(_ member: MemberMachine, location: SourceLocation = #_sourceLocation) async throws {
    let result = try await member.sync()
    #expect(result.status == 0, "\(result)", sourceLocation: location)
}

/// Expects the mirrors and the club's shared folder to hold the same files with the same bytes.
func expectEqual(
    _ members: [MemberMachine], _ club: Club, location: SourceLocation = #_sourceLocation
) async throws {
    var shared: [String: FileTree.Entry] = [:]
    for metadata in try await club.api.tree("/byteclub").values where metadata.path.components.count > 1 {
        let path = metadata.path.components.dropFirst().joined(separator: "/").lowercased()
        shared[path] =
            metadata.isFolder ? .folder : metadata.contentHash.map { .file(bytes: Int(metadata.bytes), hash: $0) }
    }
    for member in members {
        let tree = FileTree(member.mirror)
        if let first = members.first {
            let difference = FileTree(first.mirror).difference(from: tree)
            #expect(difference.isEmpty, "\(first.name) and \(member.name)", sourceLocation: location)
        }
        let entries = Dictionary(uniqueKeysWithValues: tree.entries.map { ($0.key.lowercased(), $0.value) })
        let paths = Set(entries.keys).union(shared.keys).filter { entries[$0] != shared[$0] }.sorted()
        #expect(paths.isEmpty, "\(member.name)'s mirror and the server differ", sourceLocation: location)
    }
}

/// Expects a command to end with one clear line on standard error, nothing on standard output, and an exit code.
///
/// Where progress had been told before, its lines do not count.
func expectRefusal(
    _ result: ProgramResult, _ statuses: Set<Int32>, mentioning words: String = "", afterProgress: Bool = false,
    location: SourceLocation = #_sourceLocation
) {
    #expect(statuses.contains(result.status), "\(result)", sourceLocation: location)
    #expect(result.signal == nil && !result.isTimedOut, "\(result)", sourceLocation: location)
    #expect(result.output.isEmpty, "\(result)", sourceLocation: location)
    let lines = afterProgress ? result.errorLines.filter { $0.hasPrefix("byteclub: ") } : result.errorLines
    #expect(lines.count == 1, "not one line: \(result)", sourceLocation: location)
    #expect(result.errorText.contains(words), "\(result)", sourceLocation: location)
    let noise = ["Fatal error", "Swift/", "Error Domain", "RemoteError(", "TransferError(", "Code("]
    #expect(!noise.contains { result.errorText.contains($0) }, "not for people: \(result)", sourceLocation: location)
}
