internal import Glibc

/// Where a direction is for somebody who looks at a ``PanoramaView``.
public enum PanoramaSight: Hashable, Sendable {
    /// In the view: pixels right of its left edge and below its top, fractions included.
    case inside(x: Double, y: Double)
    /// Outside, next to an edge.
    case left, right, above, below
    /// Outside, nearer to the direction behind than to either side.
    case behind
}

extension PanoramaView {
    /// Where a direction is in the view, as ``render(_:as:width:height:)`` draws it.
    ///
    /// - Parameters:
    ///   - yaw: Degrees right of the middle of the whole panorama.
    ///   - pitch: Degrees above the horizon.
    ///   - width: Pixels across.
    ///   - height: Pixels down.
    /// - Returns: The place, on which the pixel is drawn whose ray has this direction; or the way to turn.
    public func sight(yaw: Double, pitch: Double, width: Int, height: Int) -> PanoramaSight {
        let (width, height) = (Double(max(1, width)), Double(max(1, height)))
        let step = 2 * tan(fov * .pi / 360) / width
        let (sine, cosine) = (sin(self.pitch * .pi / 180), cos(self.pitch * .pi / 180))
        let turn = (yaw - self.yaw).remainder(dividingBy: 360)
        let level = cos(pitch * .pi / 180)
        let (right, forward) = (level * sin(turn * .pi / 180), level * cos(turn * .pi / 180))
        let rise = sin(pitch * .pi / 180)
        // The direction as the view has it: right, up and ahead, before it is tilted by the pitch.
        let (up, ahead) = (rise * cosine - forward * sine, forward * cosine + rise * sine)
        if ahead > 1e-9 {
            let (x, y) = (width / 2 + right / ahead / step, height / 2 - up / ahead / step)
            if x >= 0, x < width, y >= 0, y < height { return .inside(x: x, y: y) }
            if x >= 0, x < width { return y < 0 ? .above : .below }
        }
        if abs(turn) > 135 { return .behind }
        return turn < 0 ? .left : .right
    }
}
