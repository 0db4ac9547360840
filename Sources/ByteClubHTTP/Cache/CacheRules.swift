import HTTPTypes

/// What a cache may do for a request and with its answer (RFC 9111), without any effect.
enum CacheRules {
    /// What becomes of a stored answer.
    enum Use: Equatable {
        /// It is the answer.
        case serve
        /// The server is asked whether it still holds.
        case validate
        /// It is passed over.
        case ignore
    }

    /// Whether a request has anything to do with a cache: a plain GET for the whole.
    ///
    /// Requests with conditions or ranges of their own go to the server; their answers are not kept.
    static func concerns(_ head: RequestHead) -> Bool {
        head.method == .get && !head.hasBody && !head.fields.contains { ownDealings.contains($0.name.canonicalName) }
            && !CacheControl(head.fields).noStore
    }

    /// How a stored answer that matches a request is used.
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

    /// Whether an answer may be kept (RFC 9111 section 3, for the cache of one user).
    ///
    /// Never kept: parts (206), redirects and 304, what says `no-store` or `Vary: *`, and what could never be used: stale
    /// from the start without a validator.
    static func mayStore(_ stored: StoredResponse) -> Bool {
        let (code, fields) = (stored.response.status.code, stored.response.headerFields)
        let control = CacheControl(fields)
        guard !control.noStore, !(300...399).contains(code), code != 206, !stored.selectors.contains(where: \.isAny)
        else { return false }
        guard StoredResponse.heuristicStatuses.contains(code) || control.isExplicit || fields.contains(.expires) else {
            return false
        }
        return !stored.conditions.isEmpty || stored.lifetime > 0 && !control.noCache
    }

    /// The fields that an answer depends on: those of its `Vary`, and those by which it may be another user's.
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

    /// Whether what is stored tells a secret of the request, so that it must not be on a disk.
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

extension StoredResponse.Selector {
    /// Whether it stands for everything about a request, which nothing matches.
    fileprivate var isAny: Bool { name == "*" }
}
