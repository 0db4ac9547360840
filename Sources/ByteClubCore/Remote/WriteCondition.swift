/// What must hold at a path for a write to replace it.
public enum WriteCondition: Hashable, Sendable {
    /// Replace whatever live file is there.
    case overwrite
    /// Only when no live entry is there.
    case create
    /// Only when the live file there still has this version.
    case parent(Revision)
}

/// What to do when a ``WriteCondition`` does not hold.
public enum ConflictPolicy: Hashable, Sendable {
    /// Store under another name, told by the answer's path.
    case rename
    /// Store nothing and fail with a conflict.
    case fail
}
