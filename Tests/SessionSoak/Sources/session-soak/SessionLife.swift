import Glibc

@testable import ByteClubHTTP

/// One session from its making to its end, with a few workers that use it at once.
struct SessionLife {
    private enum End: CaseIterable { case finished, cancelled, cancelledMeanwhile, dropped }

    let world: World

    func run(_ random: Seeded, until stop: @escaping @Sendable () -> Bool) async {
        var random = random
        let home = random.pick(world.origins)
        let folder = world.newPath("session")
        mkdir(folder, 0o700)
        defer { remove(folder) }
        let porter = Porter(world, random.split())
        var settings = SessionConfiguration.random(
            for: home.name, in: folder, world: world, porter: porter, &random)
        let place = random.one(in: 2) ? ConditionsDriver.Place(in: folder, world.ledger, &random) : nil
        // Its thread ends with the session's connection.
        defer { place?.bus.retire() }
        if let place { settings.obey(place, &random) }
        let gatekeeper =
            random.one(in: 2) ? world.tls.map { Gatekeeper(world.ledger, $0, settings, random.split()) } : nil
        if let gatekeeper { settings.trustEvaluator = { await gatekeeper.answer($0) } }
        let isVerified = world.tls?.isVerified(by: settings) ?? false
        let delegate =
            random.one(in: 2)
            ? EndWatch(
                world.ledger, porter, on: random.one(in: 2) ? DelegateThread.shared : nil, isSlow: random.one(in: 3))
            : nil
        let session: Session
        do { session = try Session(configuration: settings, delegate: delegate, name: world.newName("soak")) } catch {
            return world.ledger.violation("no session: \(error)")
        }
        world.note(session)
        let end = random.pick(End.allCases)
        let count = Int.random(in: 5...30, using: &random)
        let idle = await IdleTasks(in: session, world, home, &random)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<Int.random(in: 2...6, using: &random) {
                let seeded = random.split()
                group.addTask {
                    var worker = Worker(
                        world: world, session: session, home: home, isVerified: isVerified,
                        gatekeeper: gatekeeper, isEndedMeanwhile: end == .cancelledMeanwhile, random: seeded)
                    for _ in 0..<count where !stop() { await worker.doSomething() }
                }
            }
            if let place {
                let seeded = random.split()
                group.addTask {
                    var driver = ConditionsDriver(
                        world: world, session: session, home: home, place: place, random: seeded)
                    await driver.run(until: stop)
                }
            }
            if case .cancelledMeanwhile = end {
                let pause = Int.random(in: 0...1_500, using: &random)
                group.addTask {
                    try? await Task.sleep(for: .milliseconds(pause))
                    await world.watch.expect("invalidateAndCancel") { await session.invalidateAndCancel() }
                }
            } else if random.one(in: 3) {
                let rate = random.pick([nil, 400_000, 4_000_000])
                group.addTask {
                    try? await Task.sleep(for: .milliseconds(200))
                    session.setRateLimit(rate)
                    try? await Task.sleep(for: .milliseconds(300))
                    session.setRateLimit(nil)
                }
            }
        }
        switch end {
        case .finished:
            await world.watch.expect("finishTasksAndInvalidate") { await session.finishTasksAndInvalidate() }
        case .cancelled, .cancelledMeanwhile:
            await world.watch.expect("invalidateAndCancel") { await session.invalidateAndCancel() }
        case .dropped: return await idle.end(isCancelled: false, &random)
        }
        await idle.end(isCancelled: end != .finished, &random)
        let left = await world.watch.expect("tasks() of an ended session") { await session.tasks() }
        if !left.isEmpty { world.ledger.violation("an ended session has the tasks \(left.map(\.id))") }
        let task = session.dataTask(.init(method: .get, scheme: "http", authority: home.authority, path: "/file/2"))
        task.resume()
        let late = await world.watch.expect("a task of an ended session") { await outcome(of: task) }
        if case .failure(let error) = late, error.code == .sessionInvalid { return }
        world.ledger.violation("an ended session took a task: \(late)")
    }

    /// Removes the folder of what the session keeps on disk, once it is not written any more.
    private func remove(_ folder: String) {
        for name in Vitals.names(in: folder) where unlink(folder + "/" + name) != 0 { remove(folder + "/" + name) }
        rmdir(folder)
    }
}

/// The result of a task, for whoever asks.
func outcome(of task: SessionTask) async -> Result<TaskResult, TransferError> {
    do { return .success(try await task.value) } catch { return .failure(error) }
}
