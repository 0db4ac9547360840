public import HTTPTypes

extension HTTPRequest {
    /// A request to an address as people write it, such as `https://club.example/notes?limit=10`.
    ///
    /// Blanks and characters beyond ASCII in path and query are percent-encoded and a fragment is left out, as browsers
    /// do (RFC 3986).
    ///
    /// - Parameters:
    ///   - method: What to ask for; GET unless said otherwise.
    ///   - address: An absolute http or https address without a user's name.
    ///   - fields: The request's own fields.
    /// - Throws: ``TransferError/Code/badRequest`` with what is wrong with the address.
    public init(_ method: Method = .get, url address: String, fields: HTTPFields = [:]) throws(TransferError) {
        let url = try RequestURL(address: address)
        self.init(
            method: method, scheme: url.origin.scheme.rawValue, authority: url.origin.authority, path: url.target,
            headerFields: fields)
    }
}

extension Session {
    /// Gets what is at an address; ``data(for:body:options:)`` for everything else about a request.
    ///
    /// Cancelling the surrounding Swift task cancels the transfer at once.
    ///
    /// - Parameter address: As for ``HTTPTypes/HTTPRequest/init(_:url:fields:)``.
    /// - Returns: Body and response, whatever its status.
    /// - Throws: When the address is none or there is no response.
    public func data(from address: String) async throws(TransferError) -> (bytes: [UInt8], response: HTTPResponse) {
        try await data(for: HTTPRequest(url: address))
    }

    /// Downloads what is at an address to a file; ``download(for:to:options:progress:)`` for everything else.
    ///
    /// Cancelling the surrounding Swift task cancels the transfer at once.
    ///
    /// - Parameters:
    ///   - address: As for ``HTTPTypes/HTTPRequest/init(_:url:fields:)``.
    ///   - path: The file; it appears only when it is whole, and only for a 2xx response.
    /// - Returns: The response, the file when the status was 2xx, and otherwise the body.
    /// - Throws: When the address is none, there is no response, or the file cannot be written.
    public func download(from address: String, to path: String)
        async throws(TransferError) -> (response: HTTPResponse, file: String?, bytes: [UInt8])
    {
        try await download(for: HTTPRequest(url: address), to: path)
    }
}
