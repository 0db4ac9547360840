public import HTTPTypes

/// A redirect that a server answered with, and where it would lead.
public struct Redirect: Sendable {
    /// The redirecting response.
    public var response: HTTPResponse

    /// The request that would be made next: with the method for it, and on the way to another origin without the fields
    /// that must not go there.
    public var request: HTTPRequest

    /// Which redirect of the task it is, from 1 to 20.
    public var number: Int

    /// Whether it leads to another scheme, host or port.
    public var leavesOrigin: Bool
}

/// What to do with a ``Redirect``.
public enum RedirectDecision: Sendable {
    /// Make the proposed request.
    case follow

    /// Make this request instead, a changed copy of the proposed one.
    ///
    /// The body of the task goes along if it would have gone with the proposed request, or if the method is again that of
    /// the request that was redirected; GET and HEAD carry none. To an origin other than the redirecting one, fields go
    /// that are public or that are not those of the proposed request. From https to http is refused all the same.
    case send(HTTPRequest)

    /// Make no further request: the redirecting response with its body is the result.
    case stop
}
