package import Glibc

/// A file that is written under a name of its own, and then gets its target's name or is removed.
package struct DraftFile<Failure: FileFailureConvertible>: ~Copyable {
    /// The open file; errors show the target's path, or the draft's when there was no target.
    package let file: OwnedDescriptor<Failure>
    private let path: String
    private var isPlaced = false

    /// Makes the file at a path.
    ///
    /// - Parameters:
    ///   - path: The draft, on the file system of its target; links there are not followed.
    ///   - flags: `O_EXCL` for a new one, `O_TRUNC` for one that an earlier process may have left.
    ///   - mode: Its permissions.
    ///   - target: The path in errors; the draft's when it is nil.
    /// - Throws: The failure to `create` it.
    package init(
        _ path: String, _ flags: Int32 = O_EXCL, mode: mode_t = 0o600, shownAs target: String? = nil
    ) throws(Failure) {
        file = try OwnedDescriptor(
            path, O_WRONLY | O_CREAT | O_NOFOLLOW | flags, mode: mode, for: "create", shownAs: target)
        self.path = path
    }

    deinit { if !isPlaced { unsafe unlink(path) } }

    /// Gives the file its name, in place of an older file.
    package mutating func place(at target: String, for operation: String = "write") throws(Failure) {
        guard unsafe rename(path, target) == 0 else { throw Failure(FileFailure(operation, target)) }
        isPlaced = true
    }
}
