import CLibcurl
import HTTPTypes

/// Use of the session's cache and cookie store for one hop.
extension CurlLoop {
    /// Serves a transfer's next hop from the cache if possible; true if the task has its result then.
    ///
    /// Otherwise ``Transfer/stored`` holds the response to revalidate, if there is one.
    func answerFromCache(_ transfer: Transfer, at now: Moment) -> Bool {
        transfer.stored = nil
        guard let cache = configuration.cache, transfer.usesCache else { return false }
        let identity =
            keyring.isEmpty ? nil : keyring.identity(for: transfer.head, after: transfer.challenges?.challenged)
        transfer.identity = identity
        let policy = transfer.task.options.cachePolicy
        let fields = transfer.cacheFields(configuration, cookies: transfer.cookies(from: configuration))
        let found = cache.find(transfer.head.url, fields, publicFields: configuration.publicFields, policy: policy)
        if let found, transfer.welcomes(found) {
            transfer.stored = found
            guard found.use == .serve else { return false }
            deliver(transfer, found.stored, found.bytes, from: .cache, at: now)
            return true
        }
        guard policy == .storedOnly || CacheControl(transfer.head.fields).onlyIfCached else { return false }
        let problem = transfer.error(
            .notStored, "the cache has no response, and the request must not be sent", phase: .queue)
        finish(transfer, .failure(problem), at: now)
        return true
    }

    /// Updates the cache with a response; true if that settled the hop.
    func takeToStores(_ transfer: Transfer, _ response: HTTPResponse, isWhole: Bool, at now: Moment) -> Bool {
        guard let cache = configuration.cache else { return false }
        cache.invalidate(transfer.head, response)
        guard transfer.usesCache else { return false }
        guard let found = transfer.stored, response.status.code == 304 else {
            if isWhole {
                let fields = transfer.cacheFields(configuration, cookies: transfer.attempt.cookies)
                cache.keep(
                    response, bytes: transfer.attempt.bytes, for: transfer.head.url, fields,
                    publicFields: configuration.publicFields, asked: transfer.work.askedAt)
            }
            return false
        }
        transfer.stored = nil
        guard let stored = cache.freshen(found, with: response, asked: transfer.work.askedAt) else {
            // The 304 is about another representation: send the request again without conditions.
            transfer.attempt.number -= 1
            requeue(transfer)
            return true
        }
        deliver(transfer, stored, found.bytes, from: .validated, at: now)
        return true
    }

    /// Writes pending changes of both stores when the session ends; blocks.
    func flushStores() {
        configuration.cookieStore?.flush()
        configuration.cache?.flush()
    }

    private func deliver(
        _ transfer: Transfer, _ stored: StoredResponse, _ bytes: [UInt8], from source: TaskResult.Source, at now: Moment
    ) {
        let result = TaskResult(
            response: configuration.cache?.answer(stored) ?? stored.response, bytes: bytes, file: nil,
            progress: transfer.meter.finish(at: now), url: transfer.head.url.redacted, source: source)
        let problem = transfer.rejection(of: result.response, hasBody: !bytes.isEmpty) { result }
        finish(transfer, problem.map { .failure($0) } ?? .success(result), at: now)
    }
}

extension Transfer {
    /// Whether the cache applies to the current hop.
    var usesCache: Bool {
        guard case .data = task.kind, task.options.disposition == nil else { return false }
        return CacheRules.concerns(head)
    }

    /// The request fields that a response may depend on, including the ones that the session adds.
    ///
    /// The cookies are passed in, because the store may change between two calls.
    func cacheFields(_ configuration: SessionConfiguration, cookies: String?) -> HTTPFields {
        var fields = head.fields
        if !fields.contains(.acceptEncoding), configuration.decodesContent { fields[.acceptEncoding] = "decoded" }
        if let cookies { fields[.cookie] = cookies }
        if let identity, !fields.contains(.authorization) { fields[.authorization] = identity }
        return fields
    }

    /// Drops the response to revalidate if it does not match the request as it is sent now.
    func recheckStored(_ configuration: SessionConfiguration) {
        guard let found = stored else { return }
        let fields = cacheFields(configuration, cookies: attempt.cookies)
        if !found.stored.matches(fields, publicFields: configuration.publicFields) { stored = nil }
    }

    /// Whether a stored response is within the task's size limits; if not, the request is sent to the server.
    func welcomes(_ found: ResponseCache.Found) -> Bool {
        let limit = task.options.maximumBodyBytes?(found.stored.response) ?? .max
        return found.bytes.count <= task.options.maximumResponseBytes && found.bytes.count <= limit
    }
}

extension Transfer {
    /// The value of the `Cookie` field for the current hop; nil if the request has its own or no cookie matches.
    func cookies(from configuration: SessionConfiguration) -> String? {
        guard task.options.usesCookies, !head.fields.contains(.cookie) else { return nil }
        return configuration.cookieStore?.field(for: head.url)
    }

    /// Stores the cookies of a response, whatever happens to its body.
    func takeCookies(of response: HTTPResponse) {
        guard task.options.usesCookies else { return }
        task.inbox.configuration.cookieStore?.take(response, from: head.url)
    }
}
