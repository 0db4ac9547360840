/// How many bytes of photos one step moves: about what the way to the server carries in a second, so that no note waits
/// long behind photos.
struct GroupPace: Hashable, Sendable {
    private static let least: Int64 = 1 << 20
    private static let most: Int64 = 64 << 20
    /// How many times as much the next step moves at most.
    private static let growth: Int64 = 4

    /// The most bytes of the next step; a photo that is larger goes by itself.
    private(set) var bytes: Int64 = 8 << 20

    /// Notes how many bytes a step has moved in what time; little tells nothing.
    mutating func note(_ moved: Int64, lasting: Duration) {
        if moved < Self.least / 2 { return }
        let seconds = Double(lasting.components.seconds) + Double(lasting.components.attoseconds) / 1e18
        let carried = Double(moved) / max(seconds, 0.001)
        bytes = max(Self.least, min(Self.most, bytes * Self.growth, Int64(min(carried, 1e12))))
    }
}
