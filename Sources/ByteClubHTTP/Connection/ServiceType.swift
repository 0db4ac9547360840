/// The kind of traffic, by which networks may treat packets differently.
///
/// It sets the DSCP of sent packets (RFC 2474) in the IPv4 field TOS or the IPv6 field Traffic Class. The values are
/// those of RFC 4594, which Wi-Fi maps to its access categories by RFC 8325. A network may change or ignore them, and
/// the server chooses the class of its own packets.
public enum ServiceType: Sendable, Hashable, CaseIterable {
    /// Ordinary traffic: packets are not marked.
    case `default`
    /// Transfers that no user waits for, such as backups: CS1, which ranks below ordinary traffic.
    case background
    /// Requests whose response a user waits for: AF21.
    case responsiveData
    /// Audio and video that is played while it arrives: AF31.
    case avStreaming
    /// Video calls: AF41.
    case video
    /// Interactive audio and video, such as games: CS4.
    case responsiveAV
    /// Voice calls: EF.
    case voice
    /// The set-up of calls: CS5.
    case callSignaling

    /// The differentiated services code point, 0 to 63.
    public var codePoint: Int {
        switch self {
        case .default: 0
        case .background: 8
        case .responsiveData: 18
        case .avStreaming: 26
        case .video: 34
        case .responsiveAV: 32
        case .voice: 46
        case .callSignaling: 40
        }
    }
}
