extension ClubAPI {
    /// What an operator may set.
    struct Settings: Sendable {
        /// The most bytes of one upload or chunk; the protocol's 150 MB.
        var bodyLimit: Int64 = 157_286_400
        /// The shortest timeout of a long poll in seconds; the protocol's 30.
        var longpollMinimum: Int64 = 30
        /// Where clients find this server, shown in the account and the start of links; empty for what each client
        /// calls it.
        var publicURL = ""
        /// The club's name, which no page changes; nil when its owners name it.
        var clubName: String?
        /// The SHA-256 of the server's public key, in the Base64 of addresses, by which members know a server that no
        /// authority vouches for; nil for any other.
        var pin: String?
        /// The clock, in seconds since 1970.
        var now: @Sendable () -> Int64 = SystemTime.seconds

        /// How often members may call.
        var limits = RequestLimits()
        /// How often passwords may be guessed.
        var signIns = SignInLimits()

        /// The scheme, host and port that a client used: those that the owner published, otherwise as its request has
        /// them.
        func origin(for client: Client) -> String {
            publicOrigin ?? (client.isSecure ? "https://" : "http://") + (client.host ?? "")
        }

        /// The club's name: the operator's, else the one that its owners gave it; nil for none.
        func clubName(in store: any AddressStore) -> String? { clubName ?? store.clubName }

        /// ``publicURL`` without its path; nil when it is not known.
        private var publicOrigin: String? {
            let parts = publicURL.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
            return parts.count < 3 ? nil : parts[..<3].joined(separator: "/")
        }
    }
}
