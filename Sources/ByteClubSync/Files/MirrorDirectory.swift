/// Names at every mirror's root.
enum MirrorDirectory {
    /// The control directory at the root: staging, trash and the root's marker.
    static let privateName = ".byteclub"
}
