/// Where somebody looks in a panorama.
public struct PanoramaDirection: Sendable, Hashable {
    /// Degrees right of the middle of the whole panorama, -180 to 180.
    public var yaw: Double
    /// Degrees above the horizon, -90 to 90.
    public var pitch: Double

    /// Makes a direction; the angles are brought into their ranges.
    public init(yaw: Double, pitch: Double) {
        self.yaw = yaw.remainder(dividingBy: 360)
        self.pitch = min(max(pitch, -90), 90)
    }
}
