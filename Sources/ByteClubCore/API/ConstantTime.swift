import Crypto

/// Comparison that takes the same time wherever two texts differ.
public enum ConstantTime {
    /// Tells whether two texts have the same bytes.
    public static func equal(_ left: String, _ right: String) -> Bool {
        SHA256.hash(data: Array(left.utf8)) == SHA256.hash(data: Array(right.utf8))
    }
}
