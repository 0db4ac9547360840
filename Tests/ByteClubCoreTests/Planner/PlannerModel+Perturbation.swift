import ByteClubCore
import TestSupport

/// Random trees and random work on them.
struct Perturbation {
    private static let names = ["a", "b", "C", "d.md", "é", "Note.md"]
    var generator: SeededGenerator
    /// Counts the contents that nobody wrote before.
    var lastContent: UInt64 = 0

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func number(below bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }

    /// Mostly new content, sometimes one that others write too.
    mutating func content() -> ContentHash {
        let number: UInt64
        if self.number(below: 6) == 0 {
            number = UInt64(self.number(below: 3))
        } else {
            lastContent += 1
            number = lastContent + 100
        }
        return Self.hash(number)
    }

    static func hash(_ number: UInt64) -> ContentHash {
        ContentHasher.hash(Array(String(number).utf8))
    }

    private mutating func name() -> String {
        let name = Self.names[number(below: Self.names.count)]
        return number(below: 4) == 0 ? name.uppercased() : name
    }

    /// A folder of a tree, the root among them, as deep as three.
    private mutating func folder(_ tree: Tree) -> RemotePath {
        let folders = tree.nodes.values.filter { $0.isFolder && $0.path.components.count < 3 }
            .map(\.path).sorted { $0.key < $1.key }
        let index = number(below: folders.count + 1)
        return index == 0 ? .root : folders[index - 1]
    }

    private mutating func entry(_ tree: Tree) -> Node? {
        let nodes = tree.nodes.values.sorted { $0.path.key < $1.path.key }
        return nodes.isEmpty ? nil : nodes[number(below: nodes.count)]
    }

    /// Does one thing that a person might do; `revision` numbers changes of the server's tree.
    mutating func work(on tree: inout Tree, revision: () -> Revision?) {
        switch number(below: 10) {
        case 0...2:
            guard let path = try? folder(tree).appending(name()) else { return }
            guard tree[path.key]?.isFolder != true else { return }
            write(tree[path.key]?.path ?? path, in: &tree, revision())
        case 3:
            guard let path = try? folder(tree).appending(name()), tree[path.key] == nil else { return }
            tree[path.key] = Node(path: path, isFolder: true, revision: revision())
        case 4...5:
            guard let file = entry(tree), !file.isFolder else { return }
            write(file.path, in: &tree, revision())
        case 6...7:
            guard let gone = entry(tree) else { return }
            remove(gone.path.key, from: &tree)
        case 8:
            guard let changed = entry(tree) else { return }
            remove(changed.path.key, from: &tree)
            if changed.isFolder {
                write(changed.path, in: &tree, revision())
            } else {
                tree[changed.path.key] = Node(path: changed.path, isFolder: true, revision: revision())
                if let path = try? changed.path.appending(name()) { write(path, in: &tree, revision()) }
            }
        default:
            guard let moved = entry(tree), let path = try? folder(tree).appending(name()), tree[path.key] == nil,
                !path.key.isBelow(moved.path.key)
            else { return }
            for node in tree.nodes.values.sorted(by: { $0.path.key < $1.path.key }) {
                guard let place = node.path.rebased(from: moved.path, to: path) else { continue }
                tree[node.path.key] = nil
                var node = node
                node.path = place
                if node.revision != nil { node.revision = revision() }
                tree[place.key] = node
            }
        }
    }

    private mutating func write(_ path: RemotePath, in tree: inout Tree, _ revision: Revision?) {
        tree[path.key] = Node(
            path: path, isFolder: false, hash: content(), size: Int64(number(below: 100)), revision: revision)
    }

    private func remove(_ key: PathKey, from tree: inout Tree) {
        for other in tree.nodes.keys where other == key || other.isBelow(key) { tree[other] = nil }
    }

    /// Mirror and server that agree, then worked on apart; now and then nothing is remembered of having agreed.
    mutating func model() -> PlannerModel {
        var model = PlannerModel()
        for _ in 0..<number(below: 12) {
            var revision = model.lastRevision
            work(on: &model.remote) {
                revision += 1
                return Revision(number: revision)
            }
            model.lastRevision = revision
        }
        model.synced = model.remote
        for (key, node) in model.remote.nodes {
            var mine = node
            mine.revision = nil
            model.local[key] = mine
        }
        if number(below: 3) == 0 { recase(&model.local) }
        disturb(&model, at: 6)
        if number(below: 20) == 0 { model.synced = Tree() }
        return model
    }

    /// Lets both sides work apart.
    mutating func disturb(_ model: inout PlannerModel, at most: Int) {
        for _ in 0..<number(below: most) { work(on: &model.local) { nil } }
        for _ in 0..<number(below: most) {
            var revision = model.lastRevision
            work(on: &model.remote) {
                revision += 1
                return Revision(number: revision)
            }
            model.lastRevision = revision
        }
    }

    /// Gives some entries, with all below them, another letter case.
    private mutating func recase(_ tree: inout Tree) {
        for key in tree.nodes.keys.sorted() where number(below: 3) == 0 {
            guard let node = tree[key], let parent = node.path.parent,
                let path = try? parent.appending(node.path.name.uppercased()), path.key == key
            else { continue }
            for (other, child) in tree.nodes {
                guard let place = child.path.rebased(from: node.path, to: path) else { continue }
                tree.nodes[other]?.path = place
            }
        }
    }
}
