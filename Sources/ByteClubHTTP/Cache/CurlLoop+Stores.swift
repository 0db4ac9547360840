import CLibcurl
import HTTPTypes

/// What a hop takes from the session's cache, and gives to it.
extension CurlLoop {
    /// Answers a transfer's next hop without the network, where that is possible; true if the task has its result then.
    ///
    /// Otherwise what the server is to be asked about is noted in ``Transfer/stored``.
    func answerFromCache(_ transfer: Transfer, at now: Moment) -> Bool {
        transfer.stored = nil
        guard let cache = configuration.cache, transfer.usesCache else { return false }
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
            .notStored, "the cache has no answer, and nobody else is to be asked", phase: .queue)
        finish(transfer, .failure(problem), at: now)
        return true
    }

    /// Deals with a response as far as the cache is concerned; true if that settled the hop.
    func takeToStores(_ transfer: Transfer, _ response: HTTPResponse, isWhole: Bool, at now: Moment) -> Bool {
        guard let cache = configuration.cache else { return false }
        cache.invalidate(transfer.head, response)
        guard transfer.usesCache else { return false }
        guard let found = transfer.stored, response.status.code == 304 else {
            if isWhole {
                let fields = transfer.cacheFields(configuration, cookies: transfer.attempt.cookies)
                cache.keep(
                    response, bytes: transfer.attempt.bytes, for: transfer.head.url, fields,
                    publicFields: configuration.publicFields, asked: transfer.askedAt)
            }
            return false
        }
        transfer.stored = nil
        guard let stored = cache.freshen(found, with: response, asked: transfer.askedAt) else {
            // It holds for something else than we have: ask once more, without conditions.
            transfer.attempt.number -= 1
            requeue(transfer)
            return true
        }
        deliver(transfer, stored, found.bytes, from: .validated, at: now)
        return true
    }

    /// Writes what the stores have not written yet, for the end of a session; blocks.
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
    /// Whether the task's present hop has anything to do with a cache.
    var usesCache: Bool {
        guard case .data = task.kind, task.options.disposition == nil else { return false }
        return CacheRules.concerns(head)
    }

    /// The fields an answer may depend on, with those that are not the request's own.
    ///
    /// The cookies are those that the store gives, or gave: it may have others a moment later.
    func cacheFields(_ configuration: SessionConfiguration, cookies: String?) -> HTTPFields {
        var fields = head.fields
        if !fields.contains(.acceptEncoding), configuration.decodesContent { fields[.acceptEncoding] = "decoded" }
        if let cookies { fields[.cookie] = cookies }
        return fields
    }

    /// Drops the stored answer that the server was to be asked about, if it is none to the request as it is sent now.
    func recheckStored(_ configuration: SessionConfiguration) {
        guard let found = stored else { return }
        let fields = cacheFields(configuration, cookies: attempt.cookies)
        if !found.stored.matches(fields, publicFields: configuration.publicFields) { stored = nil }
    }

    /// Whether a stored answer keeps to the task's limits; if not, the server's own is asked for.
    func welcomes(_ found: ResponseCache.Found) -> Bool {
        let limit = task.options.maximumBodyBytes?(found.stored.response) ?? .max
        return found.bytes.count <= task.options.maximumResponseBytes && found.bytes.count <= limit
    }
}
