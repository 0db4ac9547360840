public import HTTPTypes

/// An attempt that brought no response, or one with a status of 400 and above.
public struct FailedAttempt: Sendable {
    /// The request as it was sent, with all secrets that it carried.
    public var request: HTTPRequest

    /// Which attempt failed, from 1.
    public var attempt: Int

    /// What happened.
    public var reason: RetryReason

    /// How long the session would wait before the next attempt; nil if it would make none, since trying again may do
    /// harm or seems of no use.
    public var plan: Duration?
}

/// Why a request is sent again.
public enum RetryReason: Sendable {
    /// There was no whole response.
    case failure(TransferError)
    /// The response had a status that may be another the next time.
    case response(HTTPResponse)
    /// The server refused the credential, which is a new one now.
    case newCredential
}

/// Whether to try again.
public enum RetryDecision: Sendable {
    /// As the ``RetryPolicy`` says.
    case asPlanned
    /// After this time, whatever the method: only where sending the request twice does no harm.
    ///
    /// The number of attempts, the time for the resource and the session's budget still bound it.
    case retry(after: Duration)
    /// Not again; the failure or the response is the result.
    case stop
}
