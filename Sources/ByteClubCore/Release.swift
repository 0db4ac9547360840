/// The release that the programs are of.
public enum Release {
    /// Its version, by Semantic Versioning 2.0; `Config/debian/changelog` lists the changes of each.
    public static let version = "0.5.0"
}
