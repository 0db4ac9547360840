public import ByteClubCore

/// One claim about what every remote does, as a test that any remote can run.
///
/// Each case works in a folder of its own, so that cases may run one after another on one tree.
public struct RemoteConformanceCase: Sendable, CustomStringConvertible {
    /// The claim, a sentence.
    public let name: String
    /// Whether the remote must be able to make thumbnails.
    public let needsThumbnails: Bool
    private let body: @Sendable (RemoteConformanceRun) async throws -> Void

    init(
        _ name: String, needsThumbnails: Bool = false,
        _ body: @escaping @Sendable (RemoteConformanceRun) async throws -> Void
    ) {
        self.name = name
        self.needsThumbnails = needsThumbnails
        self.body = body
    }

    /// The claim.
    public var description: String { name }

    /// Tries the claim on two members of one tree; failures are recorded as issues of the running test.
    public func run(_ remote: any Remote, _ second: any Remote) async throws {
        try await body(RemoteConformanceRun(name: name, remote: remote, second: second))
    }
}

/// What every remote must do.
public enum RemoteConformance {
    /// All cases.
    public static let cases: [RemoteConformanceCase] =
        putting + conflicts + names + listing + reading + removing + moving + versions + searching + changes + transfers
        + thumbnails

    /// The cases that need no pictures.
    public static let casesWithoutThumbnails = cases.filter { !$0.needsThumbnails }
}
