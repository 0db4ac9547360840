import HTTPTypes

/// The rules for using and storing responses (RFC 9111), as pure functions.
enum CacheRules {
    /// What to do with a stored response.
    enum Use: Equatable {
        /// Use it as the response.
        case serve
        /// Ask the server whether it is still valid.
        case validate
        /// Do not use it.
        case ignore
    }

    /// Whether the cache applies to a request: a GET without a body for the whole resource.
    ///
    /// Requests with their own conditions or ranges bypass the cache, and their responses are not stored.
    static func concerns(_ head: RequestHead) -> Bool {
        head.method == .get && !head.hasBody && !head.fields.contains { ownDealings.contains($0.name.canonicalName) }
            && !CacheControl(head.fields).noStore
    }

    /// How to use a stored response that matches a request.
    static func use(_ stored: StoredResponse, for fields: HTTPFields, policy: CachePolicy, at now: Int64) -> Use {
        switch policy {
        case .reload: return .ignore
        case .storedElseLoad, .storedOnly: return .serve
        case .protocolRules: break
        }
        let asked = CacheControl(fields)
        if asked.onlyIfCached { return isUsable(stored, asked, at: now) ? .serve : .ignore }
        if isUsable(stored, asked, at: now) { return .serve }
        return stored.conditions.isEmpty ? .ignore : .validate
    }

    /// Whether a private cache may store a response (RFC 9111 section 3).
    ///
    /// Never stored: partial responses (206), redirects, 304, responses with `no-store` or `Vary: *`, and responses
    /// that are stale from the start and have no validator.
    static func mayStore(_ stored: StoredResponse) -> Bool {
        let (code, fields) = (stored.response.status.code, stored.response.headerFields)
        let control = CacheControl(fields)
        guard !control.noStore, !(300...399).contains(code), code != 206,
            !stored.selectors.contains(where: { $0.name == "*" })
        else { return false }
        guard StoredResponse.heuristicStatuses.contains(code) || control.isExplicit || fields.contains(.expires) else {
            return false
        }
        return !stored.conditions.isEmpty || stored.lifetime > 0 && !control.noCache
    }

    /// The request fields that a response depends on: the ones that `Vary` names, and the ones that may identify a
    /// user.
    static func selectors(
        of response: HTTPResponse, for fields: HTTPFields, publicFields: Set<HTTPField.Name> = []
    ) -> [StoredResponse.Selector] {
        var names: Set<String> = ["authorization", "accept-encoding"]
        for field in fields where !RequestHead.isPublic(field.name, publicFields) {
            names.insert(field.name.canonicalName)
        }
        for name in response.headerFields[values: .vary].joined(separator: ",").split(separator: ",") {
            names.insert(name.filter { $0 != " " && $0 != "\t" }.lowercased())
        }
        return names.sorted().map { .init(name: $0, value: StoredResponse.value($0, in: fields)) }
    }

    /// Whether the entry holds a secret of the request and so must not be written to disk.
    static func isSecret(_ stored: StoredResponse) -> Bool {
        stored.selectors.contains { $0.value != nil && !RequestHead.isHarmless($0.name) }
    }

    private static func isUsable(_ stored: StoredResponse, _ asked: CacheControl, at now: Int64) -> Bool {
        let said = CacheControl(stored.response.headerFields)
        if said.noCache || asked.noCache { return false }
        let age = stored.age(at: now)
        if let most = asked.maxAge, age > most { return false }
        let left = stored.lifetime - age
        if left > 0 { return left >= asked.minFresh ?? 0 }
        guard let stale = asked.maxStale, !said.mustRevalidate, asked.minFresh == nil else { return false }
        return -left <= stale
    }

    private static let ownDealings: Set<String> = [
        "if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "range",
    ]
}
