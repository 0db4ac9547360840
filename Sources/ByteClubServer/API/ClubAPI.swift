import ByteClubCore
import HTTPTypes

/// Core API v1 over a store: each operation in its own facet.
struct ClubAPI: Sendable {
    let store: any MetadataStore
    let thumbnails: ThumbnailStore
    let media: MediaInfoReader
    let settings: Settings
    let site: WebSite
    let nonces: NonceMemory
    let shares: FairShares

    /// Puts the operations and the pages over a store.
    init(
        store: any MetadataStore, thumbnails: ThumbnailStore, media: MediaInfoReader, settings: Settings,
        shares: FairShares
    ) {
        self.store = store
        self.shares = shares
        self.thumbnails = thumbnails
        self.media = media
        self.settings = settings
        nonces = NonceMemory(since: settings.now())
        site = WebSite(store: store, settings: settings, csrfKey: store.signingKey, shares: shares)
    }

    /// What an operator may set.
    struct Settings: Sendable {
        /// The most bytes of one upload or chunk; the protocol's 150 MB.
        var bodyLimit: Int64 = 157_286_400
        /// The shortest timeout of a long poll in seconds; the protocol's 30.
        var longpollMinimum: Int64 = 30
        /// Where clients find this server, shown in the account and the start of links; empty for what each client calls it.
        var publicURL = ""
        /// The clock, in seconds since 1970.
        var now: @Sendable () -> Int64 = SystemTime.seconds

        /// ``publicURL`` without its path; nil when it is not known.
        var publicOrigin: String? {
            let parts = publicURL.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
            return parts.count < 3 ? nil : parts[..<3].joined(separator: "/")
        }
        /// How often members may call.
        var limits = RequestLimits()
        /// How often passwords may be guessed.
        var signIns = SignInLimits()
    }

    /// The most entries of one page of changes.
    static let pageSize = 2000

    /// Does what a call asks for.
    ///
    /// - Throws: ``APIError`` for what the protocol refuses, ``StorageError`` for what the storage cannot do, and what
    ///   reading the body throws.
    func answer(_ call: Call) async throws -> Answer {
        if let preflight = CrossOrigin.preflight(call) {
            try settings.limits.countAnonymous(from: call.client.address)
            return preflight
        }
        var answer = try await serve(call)
        try answer.hold(shares, for: call.party)
        return answer
    }

    private func serve(_ call: Call) async throws -> Answer {
        let endpoint = try await countingStrangers(call) { try call.findEndpoint() }
        switch endpoint.handler {
        case .member(let role, let handler):
            // Who shows a token outside the form is asked who they are before a byte of it is held.
            if Credentials.areShown(by: call), !Credentials.areOAuth1(of: call) {
                try await authorize(call, as: role)
            }
            try await countingStrangers(call) { try await call.readForm(shares) }
            if call.member == nil { try await authorize(call, as: role) }
            return try await handler(self)(call)
        case .anyone(let handler):
            if !endpoint.countsItself { try settings.limits.countAnonymous(from: call.client.address) }
            try await countingStrangers(call) { try await call.readForm(shares) }
            return try await handler(self)(call)
        case .page(let handler):
            try await countingStrangers(call) { try await call.readForm(shares) }
            return try await site.answer(call, handler(site))
        }
    }

    /// Changes the folder and answers with the entry that came of it.
    func change(
        _ call: Call, storing content: StagedContent? = nil,
        _ body: @escaping @Sendable (inout SharedFolder<AnyFolderState>) throws -> FolderEntry
    ) async throws -> Answer {
        let member = try call.requireMember()
        return .json(Metadata(try await store.write(by: member.uid, storing: content, body)))
    }
}
