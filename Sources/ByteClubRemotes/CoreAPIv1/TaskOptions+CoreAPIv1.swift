import ByteClubHTTP

extension TaskOptions {
    /// The largest answer but for contents: a listing of 25,000 entries, the most there are in one, with 900 bytes for
    /// each.
    private static let largestAnswer = 24 << 20

    /// What all requests of Core API v1 do differently: it redirects nowhere, so a server that does gets neither a body
    /// to another place nor a client that asks around for it, and it answers no more than a client can hold.
    static var coreAPIv1: TaskOptions {
        var options = TaskOptions()
        options.redirects = .ownOrigin
        options.maximumResponseBytes = largestAnswer
        return options
    }
}
