import HTTPTypes

extension BackgroundRequest {
    /// Whether doing it twice does no more than doing it once, as far as can be told: all but an upload whose method does
    /// not promise that (RFC 9110 section 9.2.2) and that has no key.
    var isRepeatable: Bool {
        guard case .upload(let request, _) = work else { return true }
        return RequestHead.isIdempotent(request.method) || options.idempotencyKey != nil
    }
}
