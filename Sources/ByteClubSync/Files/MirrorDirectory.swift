/// What every mirror has at its root.
enum MirrorDirectory {
    /// The folder at the root that holds what is ours alone: staging, trash and the root's marker.
    static let privateName = ".byteclub"
}
