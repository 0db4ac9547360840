/// A request of a member who may make it.
struct MemberRequest: RequestContext {
    private let routed: RoutedRequest
    /// Who sends it, and how that was shown.
    let identity: Identity

    /// Joins a request and its sender, who has been let in.
    init(_ routed: RoutedRequest, from identity: Identity) {
        self.routed = routed
        self.identity = identity
    }

    /// Who sends it.
    var member: Member { identity.member }
    var requester: Requester { identity.requester }
    var request: Request { routed.request }
    var endpoint: Endpoint { routed.endpoint }
    var tail: ArraySlice<String> { routed.tail }
    var parameters: Parameters { routed.parameters }
    var rawPath: String { routed.rawPath }
}
