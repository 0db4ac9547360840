/// The way of a folder back to what it was after one of its changes.
///
/// It is planned in a snapshot and carried out step by step, each of which makes new versions. So nothing is lost, and a
/// restoration that was broken off is planned again for what is left.
public struct Restoration: Sendable {
    /// What is to be restored.
    public struct Goal: Hashable, Sendable {
        /// The last change that stays.
        public var revision: Int64
        /// The folder or file that is restored with all below it.
        public var folder: RemotePath
        /// The member whose changes alone are undone; nil for all.
        public var author: Int64?
        /// Whether what was added since stays.
        public var keepsNewer: Bool

        /// Creates a goal; by default the whole club.
        public init(revision: Int64, folder: RemotePath = .root, author: Int64? = nil, keepsNewer: Bool = false) {
            self.revision = revision
            self.folder = folder
            self.author = author
            self.keepsNewer = keepsNewer
        }
    }

    /// One change on the way.
    public struct Step: Hashable, Sendable {
        /// The kinds of changes, in the order in which they are done.
        public enum Action: Hashable, Sendable {
            /// Deletes a file, or an empty folder.
            case remove
            /// Makes a folder.
            case makeFolder
            /// Gives a deleted file this version back.
            case bringBack(Int64)
            /// Gives a file the content and the name of this version.
            case changeBack(Int64)
            /// Gives a folder its name in other letter case.
            case rename
        }

        /// What is done.
        public let action: Action
        /// The entry: where it is if it is removed, else where it was.
        public let path: RemotePath
        /// Whether the entry is a folder.
        public let isFolder: Bool
        /// The version that was there when the step was planned.
        public let seen: Int64
    }

    /// Entries of one kind: how many, and the first of them.
    public struct Entries: Hashable, Sendable {
        /// The most that are listed.
        public static let mostListed = 100

        /// How many there are.
        public internal(set) var count = 0
        /// The first of them in the order of their paths.
        public internal(set) var first: [RemotePath] = []

        mutating func add(_ path: RemotePath) {
            count += 1
            if first.count < Self.mostListed { first.append(path) }
        }
    }

    /// How many files and folders steps changed.
    public struct Counts: Hashable, Sendable {
        /// Files that were deleted.
        public var broughtBack = 0
        /// Files that had another content or name.
        public var changedBack = 0
        /// Files that were added.
        public var removed = 0
        /// Folders that were made, renamed or removed.
        public var folders = 0

        /// Creates counts of nothing.
        public init() {}

        /// Whether there is none.
        public var isEmpty: Bool { self == Counts() }

        /// Counts a step.
        public mutating func add(_ step: Step) {
            switch step.action {
            case _ where step.isFolder: folders += 1
            case .remove: removed += 1
            case .bringBack: broughtBack += 1
            case .changeBack: changedBack += 1
            case .makeFolder, .rename: folders += 1
            }
        }
    }

    /// The most steps.
    public static let mostSteps = 100_000

    /// What is restored.
    public let goal: Goal
    /// The steps in their order.
    public internal(set) var steps: [Step] = []
    /// The last change of the folder when this was planned.
    public internal(set) var revision: Int64 = 0
    /// Entries that stay as they are, since their versions of that time are no longer kept.
    public internal(set) var forgotten = Entries()
    /// Entries that stay as they are, since others have changed them too.
    public internal(set) var others = Entries()
    /// Entries that were added since and stay.
    public internal(set) var newer = Entries()
    /// Entries that cannot be brought back, since something that stays is in their place.
    public internal(set) var blocked = Entries()

    /// What all steps do.
    public var counts: Counts { steps.reduce(into: Counts()) { $0.add($1) } }

    /// The first files of some steps, and how many there are.
    public func files(_ matches: (Step.Action) -> Bool) -> Entries {
        steps.reduce(into: Entries()) { if !$1.isFolder, matches($1.action) { $0.add($1.path) } }
    }

    init(_ goal: Goal) { self.goal = goal }
}
