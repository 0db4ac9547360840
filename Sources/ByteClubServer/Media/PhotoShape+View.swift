import ByteClubCore

extension PhotoShape {
    /// The shape as somebody wants the photo to be looked at.
    ///
    /// Angles that the photo does not tell are those of a picture that goes once around, or what fits its sides.
    func viewed(as kind: Kind) -> PhotoShape {
        guard kind != self.kind, width > 0, height > 0 else { return self }
        var shape = self
        shape.kind = kind
        let aspect = Double(width) / Double(height)
        switch kind {
        case .flat, .strip: break
        case .sphere: (shape.hFOV, shape.vFOV, shape.yaw, shape.pitch, shape.isEstimate) = (360, 180, 0, 0, false)
        case .partialSphere, .cylinder:
            if hFOV != nil, vFOV != nil { break }
            let across = hFOV ?? min(360, 180 * aspect)
            (shape.hFOV, shape.vFOV, shape.isEstimate) = (across, min(180, across / aspect), true)
        }
        return shape
    }
}
