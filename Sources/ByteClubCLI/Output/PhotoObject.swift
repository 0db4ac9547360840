import ByteClubCore

/// What commands tell in JSON of a photo as a picture.
struct PhotoObject: Encodable, Sendable {
    /// True while the server has not looked at it yet, absent otherwise.
    var pending: Bool?
    /// How it is shown: `sphere`, `partialSphere`, `cylinder`, `strip` or `flat`.
    var kind: String?
    /// Pixels as it is seen.
    var width: Int?
    /// Pixels as it is seen.
    var height: Int?
    /// Degrees covered from left to right.
    var hFOV: Double?
    /// Degrees covered from bottom to top.
    var vFOV: Double?
    /// When it was taken by the clock of the place, as RFC 3339 with its offset; without one where the photo says none.
    var taken: String?
    /// Degrees north.
    var latitude: Double?
    /// Degrees east.
    var longitude: Double?

    /// Takes what the server tells.
    init(_ info: MediaInfo) {
        pending = info.isPending ? true : nil
        kind = info.shape?.kind.rawValue
        width = info.shape?.width
        height = info.shape?.height
        hFOV = info.shape?.hFOV
        vFOV = info.shape?.vFOV
        taken = info.taken?.description
        latitude = info.place?.latitude
        longitude = info.place?.longitude
    }
}
