import HTTPTypes

extension Transfer {
    /// The value of the `Cookie` field for the present hop; nil if it has its own, or there is none.
    func cookies(from configuration: SessionConfiguration) -> String? {
        guard task.options.usesCookies, !head.fields.contains(.cookie) else { return nil }
        return configuration.cookieStore?.field(for: head.url)
    }

    /// Gives the cookies of a response to the session's store, whatever becomes of its body.
    func takeCookies(of response: HTTPResponse) {
        guard task.options.usesCookies else { return }
        task.inbox.configuration.cookieStore?.take(response, from: head.url)
    }
}
