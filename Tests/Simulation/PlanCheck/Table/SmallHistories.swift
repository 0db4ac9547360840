@testable import ByteClubSync

/// All that one side can come to by up to two changes of a tree with four entries.
///
/// The two sides share nothing here: which identities and contents their new entries get is told when they meet.
struct SmallHistories {
    /// An entry as one side shows it.
    struct Entry: Hashable {
        /// The folder's position among the entries; -1 is the root.
        var folder: Int
        var name: Int
        var isFolder: Bool
        var content: SmallContent
    }

    /// One side: the four entries of the base and up to two new ones.
    typealias State = [Entry?]

    let base: State
    /// What a side can come to, each state once; the base is the first.
    private(set) var states: [State]
    /// How many histories lead to them.
    private(set) var count = 1

    /// All histories on a base, with so many names.
    init(_ base: [Entry], names: Int) {
        self.base = base
        states = [base]
        var seen: Set<State> = [base]
        var last = [base as State]
        for _ in 0..<2 {
            let next = last.flatMap { Self.changes(of: $0, names) }
            count += next.count
            // A later history may begin with any that came to the same.
            for state in next where seen.insert(state).inserted { states.append(state) }
            last = next
        }
    }

    /// What one change makes of a side.
    private static func changes(of state: State, _ names: Int) -> [State] {
        var found: [State] = []
        func add(_ change: (inout State) -> Void) {
            var copy = state
            change(&copy)
            found.append(copy)
        }
        let locations = freeLocations(in: state, names)
        for (index, entry) in state.enumerated() {
            guard let entry else { continue }
            for location in locations where !isBelow(location.folder, index, state) {
                add {
                    $0[index]?.folder = location.folder; $0[index]?.name = location.name
                }
            }
            add { delete(index, &$0) }
            if !entry.isFolder {
                for content in [SmallContent.own(index), .common] where content != entry.content {
                    add { $0[index]?.content = content }
                }
            }
            for other in state.indices.dropFirst(index + 1) {
                guard let second = state[other], !isBelow(index, other, state), !isBelow(other, index, state) else {
                    continue
                }
                add {
                    $0[index]?.folder = second.folder; $0[index]?.name = second.name
                    $0[other]?.folder = entry.folder; $0[other]?.name = entry.name
                }
            }
        }
        for location in locations {
            let contents: [SmallContent] = [.none, .own(state.count), .common]
            for content in contents {
                let isFolder = content == .none
                add {
                    $0.append(Entry(folder: location.folder, name: location.name, isFolder: isFolder, content: content))
                }
            }
        }
        return found
    }

    private static func freeLocations(in state: State, _ names: Int) -> [(folder: Int, name: Int)] {
        let folders = [-1] + state.indices.filter { state[$0]?.isFolder == true }
        return folders.flatMap { folder in
            (0..<names).filter { name in
                !state.contains { $0?.folder == folder && $0?.name == name }
            }.map { (folder, $0) }
        }
    }

    private static func isBelow(_ entry: Int, _ folder: Int, _ state: State) -> Bool {
        var next = entry
        while next != -1 {
            if next == folder { return true }
            next = state[next]?.folder ?? -1
        }
        return false
    }

    private static func delete(_ index: Int, _ state: inout State) {
        for child in state.indices where state[child]?.folder == index { delete(child, &state) }
        state[index] = nil
    }
}

/// A content by how it came to be.
enum SmallContent: Hashable {
    case none, base(Int), own(Int)
    /// One that the other side may have made as well.
    case common

    /// The content; what is one's own is another on each side.
    func content(on side: Side) -> Content? {
        switch self {
        case .none: nil
        case .base(let index): Content(8 + index)
        case .own(let index): Content((side == .local ? 16 : 32) + index)
        case .common: Content(0)
        }
    }
}
