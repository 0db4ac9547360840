/// How fast calls of a remote may move the bytes of files.
public enum TransferRate {
    /// The most bytes a second that such a call in this task moves, in each direction; nil for no limit of its own.
    @TaskLocal public static var limit: Int?
}
