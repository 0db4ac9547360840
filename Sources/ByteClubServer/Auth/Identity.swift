/// Who sends a request, and how that was shown.
struct Identity: Sendable {
    /// Who sends it.
    let member: Member
    /// What showed it.
    let credentials: Credentials
    /// The signature, when it covers something in the body and is still to be checked.
    let pendingSignature: PendingSignature?

    /// Who pays for the request.
    var requester: Requester { .member(member.uid) }
}

/// A signature of OAuth 1, and the secrets that it must have been made with.
struct PendingSignature: Sendable {
    let signed: OAuth1
    let header: [String: String]
    let consumerSecret: String
    let tokenSecret: String
    let signer: NonceMemory.Signer
}
