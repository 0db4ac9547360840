import HTTPTypes

/// The operations of Core API v1 that this server has, by what follows `/1/` in the URL.
enum Operation: String, CaseIterable, Sendable {
    case accountInfo = "account/info"
    case metadata
    case files
    case filesPut = "files_put"
    case chunkedUpload = "chunked_upload"
    case commitChunkedUpload = "commit_chunked_upload"
    case thumbnails
    case search
    case delta
    case latestCursor = "delta/latest_cursor"
    case longpollDelta = "longpoll_delta"
    case revisions
    case restore
    case copy = "fileops/copy"
    case createFolder = "fileops/create_folder"
    case delete = "fileops/delete"
    case move = "fileops/move"
    case requestToken = "oauth/request_token"
    case accessToken = "oauth/access_token"
    case token = "oauth2/token"
    case tokenFromOAuth1 = "oauth2/token_from_oauth1"
    case disableAccessToken = "disable_access_token"
    case shares
    case media
    case copyRef = "copy_ref"
    case view
    /// The page of a shared link, outside `/1/`, which no operation's name can be.
    case sharePage = "/s"
    case syncBatch = "sync/batch"
    case syncChanges = "sync/changes"
    case syncChunk = "sync/chunks"
    case syncChunksNeeded = "sync/chunks/need"
    case syncDigest = "sync/digest"
    case syncLinks = "sync/links"
    case syncLinksRevoke = "sync/links/revoke"

    private static let byName = Dictionary(
        uniqueKeysWithValues: allCases.map { ($0.rawValue, $0) } + [("unlink_access_token", .disableAccessToken)])

    /// Finds the operation that a URL's components name, and the components after it.
    static func find(_ components: [String]) -> (operation: Operation, rest: ArraySlice<String>)? {
        // Later clients leave the version out here.
        if components == ["oauth2", "token"] { return (.token, []) }
        if components.first == "s" { return (.sharePage, components[1...]) }
        guard components.first == "1", components.count > 1 else { return nil }
        if let found = byName[components[1]], found.takesPath { return (found, components[2...]) }
        if let found = byName[components[1...].joined(separator: "/")] { return (found, []) }
        // A chunk's name follows those of its operation.
        guard components.count == 4, components[1...2].joined(separator: "/") == syncChunk.rawValue else { return nil }
        return (.syncChunk, components[3...])
    }

    /// The methods that are accepted.
    var methods: [HTTPRequest.Method] {
        switch self {
        case .accountInfo, .metadata, .thumbnails, .longpollDelta, .revisions, .syncChanges, .syncDigest, .syncLinks:
            [.get]
        case .files: [.get, .head, .post]
        case .filesPut, .chunkedUpload: [.put, .post]
        case .search, .restore, .shares, .media, .copyRef, .requestToken, .accessToken: [.get, .post]
        case .token, .tokenFromOAuth1, .disableAccessToken: [.post]
        case .view, .sharePage: [.get, .head]
        case .commitChunkedUpload, .delta, .latestCursor, .copy, .createFolder, .delete, .move: [.post]
        case .syncBatch, .syncChunksNeeded, .syncLinksRevoke: [.post]
        case .syncChunk: [.put]
        }
    }

    /// Whether a root and a path follow the operation's name.
    var takesPath: Bool {
        switch self {
        case .metadata, .files, .filesPut, .commitChunkedUpload, .thumbnails, .search, .revisions, .restore, .shares,
            .media, .copyRef, .view:
            true
        default: false
        }
    }

    /// Who may make the call: members of this role or above it; nil for everybody, without credentials.
    func role(_ method: HTTPRequest.Method) -> Role? {
        switch self {
        case .longpollDelta, .view, .sharePage, .requestToken, .accessToken, .token: nil
        case .files where method == .post: .editor
        case .filesPut, .chunkedUpload, .commitChunkedUpload, .restore, .copy, .createFolder, .delete, .move: .editor
        // A link lets people in who are no members. One to a file's bytes is no more than a viewer could send anyway; it
        // ends within hours, and programs of old show photos and films with nothing else.
        case .shares: .editor
        case .accountInfo, .metadata, .files, .thumbnails, .search, .delta, .latestCursor, .revisions, .media, .copyRef,
            .tokenFromOAuth1, .disableAccessToken:
            .viewer
        case .syncBatch, .syncChunk, .syncChunksNeeded: .editor
        // Each member's own; owners see and take back all.
        case .syncChanges, .syncDigest, .syncLinks, .syncLinksRevoke: .viewer
        }
    }

    /// What a log shows in place of the path; nil when the path holds no secret.
    var loggablePath: String? {
        switch self {
        case .view: "/1/view/_"
        case .sharePage: "/s/_"
        default: nil
        }
    }
}
