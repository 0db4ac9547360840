import ByteClubCore
import Glibc
import Testing

@testable import ByteClubSync
@testable import SyncSimulation

struct PlanCheckTests {
    @Test func randomTreesConvergeAndLoseNothing() async {
        let settings = PlanCheckSettings()
        let clock = ContinuousClock()
        let cores = 2
        let start = clock.now
        let failures = await withTaskGroup(of: PlanCheck.Failure?.self) { group in
            for core in 0..<cores {
                group.addTask {
                    PlanCheck.failure(from: settings.seed &+ UInt64(core) << 40, count: settings.cases / cores)
                }
            }
            var found: [PlanCheck.Failure] = []
            for await failure in group { if let failure { found.append(failure) } }
            return found
        }
        let seconds = (clock.now - start) / .seconds(1)
        print(
            "PlanCheck: \(settings.cases) cases from seed \(settings.seed), \(Int(Double(settings.cases / cores) / seconds)) per core and second"
        )
        for failure in failures { Issue.record("\(failure)") }
    }

    /// Seeds that have found a mistake of the planner.
    @Test(
        arguments: [
            152, 21_057, 26_208, 42_592, 237_898, 34, 642, 4309, 56_651, 1_099_511_628_361, 1_099_511_634_189,
            1_099_517_207_636,
        ] as [UInt64])
    func theCasesThatOnceFailedPass(seed: UInt64) {
        let failure = PlanCheck.failure(of: seed)
        #expect(failure?.description == nil)
    }

    /// Every local history of up to two changes with every remote one, held against the decision tables.
    @Test func allSmallHistoriesEndAsTheTablesSay() async {
        let every = max(1, Int(Settings.environment("BYTECLUB_SCOPE_EVERY") ?? "") ?? 1)
        for scope in [SmallScope.flat, .nested] {
            let clock = ContinuousClock()
            let start = clock.now
            let tally = await withTaskGroup(of: SmallScope.Tally.self) { group in
                for core in 0..<2 { group.addTask { scope.tally(from: core, every: 2 * every) } }
                return await group.reduce(SmallScope.Tally()) { $0 + $1 }
            }
            print(
                "small scope: \(scope.pairs) pairs of histories, \(scope.states) trees a side, \(tally.cases) cases, \(tally.open) of them open in the tables, \(clock.now - start)"
            )
            #expect(tally.failed == 0)
            for failure in tally.failures { Issue.record("\(failure)") }
        }
    }

    /// A second try, or a second device, makes no second copy of the same content.
    @Test func aConflictCopyThatIsThereIsNotMadeAgain() throws {
        for side in [Side.local, .remote] {
            let (trees, id) = PlanCheckCase.disputed(copyOn: side)
            let plan = try Planner.plan([id], in: trees)
            #expect(plan.operations == [.disk(id, .download(Location(.root, EntryName("a"))))])
        }
        let (trees, id) = PlanCheckCase.disputed(copyOn: nil)
        let plan = try Planner.plan([id], in: trees)
        #expect(plan.operations.map(\.item) == [id])
        guard case .disk(_, .resolveContent) = plan.operations.first else {
            Issue.record("\(plan)")
            return
        }
    }

    /// A conflict copy takes no name that another entry has, be it on one side alone.
    @Test(arguments: [Side.local, .remote])
    func aConflictCopyHasANameOfItsOwn(side: Side) throws {
        var (trees, id) = PlanCheckCase.disputed(copyOn: nil)
        let stamp = ConflictNaming().stamp(nil)
        let (other, taken) = (trees.newItem(), Location(.root, EntryName(ConflictName.name(for: "a", stamp))))
        let hash = ContentHasher.hash([4])
        trees[other] =
            switch side {
            case .local: Item(other, local: LocalState(location: taken, isFolder: false, hash: hash))
            case .remote: Item(other, remote: RemoteState(location: taken, isFolder: false, hash: hash))
            }
        let plan = try Planner.plan([id], in: trees)
        let free = EntryName(ConflictName.name(for: "a", stamp, number: 2))
        #expect(plan.operations == [.disk(id, .resolveContent(conflictName: free))])
    }

    /// A folder that cannot be read, or is kept out, keeps all that is in it from being decided about.
    @Test(arguments: [false, true])
    func nothingIsDecidedInWhatIsFrozen(isExcluded: Bool) throws {
        var trees = MemoryTrees()
        let (folder, inner, new) = (trees.newItem(), trees.newItem(), trees.newItem())
        for (item, location) in [
            (folder, Location(.root, EntryName("folder"))), (inner, Location(folder, EntryName("inner"))),
        ] {
            trees[item] = Item(
                item, local: LocalState(location: location, isFolder: true),
                remote: RemoteState(location: location, isFolder: true),
                synced: SyncedState(location: location, isFolder: true))
        }
        trees.update(folder) {
            $0.isExcluded = isExcluded
            $0.isFrozen = !isExcluded
        }
        trees[new] = Item(new, local: LocalState(location: Location(inner, EntryName("new")), isFolder: true))
        let plan = try Planner.plan([new], in: trees)
        #expect(plan.batches.isEmpty && plan.unread.isEmpty)
        #expect(plan.blocked[new] == .frozen(folder))
    }

    /// Prints what planning costs when everything is new at once.
    @Test func aHundredThousandNewFilesArePlannedAtOnce() throws {
        let trees = ManyNewFiles(100_000)
        let clock = ContinuousClock()
        var plan = Plan()
        let time = try clock.measure { plan = try Planner.plan(trees.ids, in: trees) }
        #expect(plan.operations.count == 100_000 + trees.folders)
        print("planner: \(trees.ids.count) new entries in \(time), \(time / trees.ids.count) each")
    }
}
