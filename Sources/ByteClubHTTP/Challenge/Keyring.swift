import HTTPTypes

/// The credentials that a session has for servers and proxies, in memory for the session's life.
///
/// Only the loop's thread uses it, so it needs no lock.
struct Keyring {
    /// What a request carries for one protection space.
    struct Answer: Sendable {
        let space: ProtectionSpace
        /// The number of the credential.
        let version: UInt64
        /// The value of `Authorization` or `Proxy-Authorization`; nil where libcurl makes it, for a tunnel.
        var field: String?
        /// The proxy's user name and password for libcurl.
        var login: PasswordCredential?
    }

    /// The challenge that a request answers.
    struct Challenged {
        let space: ProtectionSpace
        let nonce: String?

        init(_ challenge: AuthenticationChallenge) {
            space = challenge.space
            nonce = challenge.parameters["nonce"]
        }
    }

    private struct Entry {
        let space: ProtectionSpace
        let credential: PasswordCredential
        let version: UInt64
        /// One for each recent nonce of the server, the newest last.
        var digests: [DigestAnswer] = []
        /// The paths to which it is sent without being asked for.
        var paths: [PathScope] = []

        /// The value of the field; nil if no nonce of the server is known.
        ///
        /// The nonce is the one of the challenge that the request answers, since a server may accept each once, and else
        /// the newest one.
        mutating func field(_ method: HTTPRequest.Method, _ target: String, nonce: String?) -> String? {
            if space.scheme == "basic" { return credential.basicField }
            let own = nonce.flatMap { nonce in digests.lastIndex { $0.demand.nonce == nonce } }
            guard let index = own ?? digests.indices.last else { return nil }
            return digests[index].field(method, target)
        }
    }

    private static let mostEntries = 64
    private static let mostPaths = 32
    private static let mostNonces = 64

    /// The least recently stored one first.
    private var entries: [Entry] = []
    private var lastVersion: UInt64 = 0

    var isEmpty: Bool { entries.isEmpty }

    /// The number of a space's credential; nil without one.
    func version(of space: ProtectionSpace) -> UInt64? { entries.first { $0.space == space }?.version }

    /// Stores a credential, in place of an older one for the same space.
    mutating func store(_ credential: PasswordCredential, for challenge: AuthenticationChallenge) {
        forget(challenge.space)
        if entries.count >= Self.mostEntries { entries.removeFirst() }
        lastVersion += 1
        entries.append(Entry(space: challenge.space, credential: credential, version: lastVersion))
    }

    /// Removes a credential that was rejected.
    mutating func forget(_ space: ProtectionSpace) { entries.removeAll { $0.space == space } }

    /// Makes the space's credential valid for what a challenge covers, with the challenge's nonce.
    ///
    /// For Basic that is the folder of the challenged path (RFC 7617 section 2.2), for Digest the challenge's domain
    /// within this origin (RFC 7616 section 3.3) and the challenged path itself.
    mutating func cover(_ url: RequestURL, by challenge: AuthenticationChallenge) {
        guard let index = entries.firstIndex(where: { $0.space == challenge.space }) else { return }
        let demand = DigestAnswer.Demand(challenge)
        if let demand, !entries[index].digests.contains(where: { $0.demand.nonce == demand.nonce }) {
            if entries[index].digests.count >= Self.mostNonces { entries[index].digests.removeFirst() }
            entries[index].digests.append(DigestAnswer(demand, entries[index].credential))
        }
        if challenge.isOfProxy { return }
        for path in PathScope.all(of: challenge, at: url) where !entries[index].paths.contains(path) {
            if entries[index].paths.count >= Self.mostPaths { entries[index].paths.removeFirst() }
            entries[index].paths.append(path)
        }
    }

    /// The answer that a request to a server carries, made anew for each request; nil for none.
    ///
    /// - Parameters:
    ///   - head: The request.
    ///   - challenged: The challenge that the request answers; nil for a request that was not challenged.
    /// - Returns: The answer with the credential of the longest path that covers the request.
    mutating func answer(to head: RequestHead, after challenged: Challenged?) -> Answer? {
        guard let index = self.index(for: head, in: challenged?.space) else { return nil }
        let field = entries[index].field(head.method, head.url.target, nonce: challenged?.nonce)
        return Answer(space: entries[index].space, version: entries[index].version, field: field)
    }

    /// A text that is the same for requests with the same credential, by which the cache tells users apart.
    func identity(for head: RequestHead, after challenged: Challenged?) -> String? {
        guard let index = self.index(for: head, in: challenged?.space) else { return nil }
        return entries[index].space.scheme + " " + entries[index].credential.basicField
    }

    /// The answer for a proxy; nil for none.
    mutating func answer(to head: RequestHead, through proxy: ProxyServer, after challenged: Challenged?) -> Answer? {
        let origin = proxy.description
        guard let index = entries.lastIndex(where: { $0.space.isOfProxy && $0.space.origin == origin }) else {
            return nil
        }
        var answer = Answer(space: entries[index].space, version: entries[index].version)
        if head.url.origin.scheme == .https {
            answer.login = entries[index].credential
        } else {
            answer.field = entries[index].field(head.method, head.url.text, nonce: challenged?.nonce)
        }
        return answer
    }

    private func index(for head: RequestHead, in challenged: ProtectionSpace?) -> Int? {
        if let challenged, let index = entries.firstIndex(where: { $0.space == challenged }) { return index }
        let origin = head.url.origin.text
        var best: (index: Int, length: Int)?
        for (index, entry) in entries.enumerated() where !entry.space.isOfProxy && entry.space.origin == origin {
            let length = entry.paths.compactMap { $0.length(in: head.url.target) }.max()
            if let length, length >= best?.length ?? 0 { best = (index, length) }
        }
        return best?.index
    }
}

/// A path with all below it.
struct PathScope: Hashable {
    /// Without the slash at its end.
    let path: String

    /// A path without its query; the folder that it is in, if only that counts.
    init(_ target: String, isFolder: Bool = false) {
        var path = target.prefix { $0 != "?" }
        if isFolder, let slash = path.lastIndex(of: "/") { path = path[...slash] }
        while path.last == "/" { path.removeLast() }
        self.path = String(path)
    }

    /// What a challenge covers.
    static func all(of challenge: AuthenticationChallenge, at url: RequestURL) -> [PathScope] {
        guard challenge.scheme == "digest" else { return [PathScope(url.target, isFolder: true)] }
        let addresses = challenge.parameters["domain"]?.split(separator: " ") ?? []
        guard !addresses.isEmpty else { return [PathScope("/")] }
        let named = addresses.prefix(16).compactMap { url.resolving($0.utf8) }.filter { $0.origin == url.origin }
        return [PathScope(url.target)] + named.map { PathScope($0.target) }
    }

    /// The length of the scope if it contains a target; nil if it does not.
    func length(in target: String) -> Int? {
        let (own, all) = (path.utf8, target.utf8)
        guard all.starts(with: own) else { return nil }
        let next = all.dropFirst(own.count).first
        return next == nil || next == UInt8(ascii: "/") || next == UInt8(ascii: "?") ? own.count : nil
    }
}
