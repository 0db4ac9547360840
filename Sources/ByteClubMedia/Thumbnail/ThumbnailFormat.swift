/// The file formats a thumbnail can be made in.
public enum ThumbnailFormat: String, Sendable, Hashable, CaseIterable {
    /// Baseline JPEG with 4:2:0 sampling.
    case jpeg
    /// 8-bit PNG.
    case png
}
