import Logging

/// The tasks: the queue gets their events, and the loop carries out its steps in order.
extension DaemonLoop {
    private static let secondTry: Duration = .seconds(10)

    /// Loads the folder's tasks.
    func load() throws(TransferError) {
        var (tasks, damage) = try folder.load()
        for line in damage { daemon.logger?.warning("\(line)") }
        for index in tasks.indices where !tasks[index].isFinished { restoreProgress(&tasks[index]) }
        for status in tasks {
            owners[status.id] = (status.identifier, status.request.work)
            if status.isFinished { ended.insert(status.id) }
            // The last daemon may have been killed before it removed this.
            if status.failure?.code == TransferError.Code.cancelled.rawValue {
                switch status.request.work {
                case .download: DownloadJournal(folder, status.id).discard()
                case .custom where folder.checkpoint(of: status.id) != nil: discard(status.id)
                case .upload, .custom: break
                }
            }
        }
        let left = LeftParts(of: tasks, folder)
        if !left.isEmpty { cleaning = Task.detached { await OwnThread.run { left.remove() } } }
        apply(.loaded(tasks))
        // With the ends of uploads that were interrupted.
        loadRelaunches(queue.all)
    }

    /// Reads a download's progress from its journal, the only place that has it, so that it shows before the next byte.
    private func restoreProgress(_ status: inout BackgroundStatus) {
        guard case .download = status.request.work, let data = DownloadJournal(folder, status.id).load() else { return }
        status.bytes = DownloadFile.bytesLeft(of: data.record)
        if data.bytesExpectedToReceive >= 0 { status.total = data.bytesExpectedToReceive }
    }

    func apply(_ event: TaskQueue.Event) {
        for step in queue.handle(event, at: now) { carryOut(step) }
    }

    /// The current time, in milliseconds since 1970.
    var now: Int64 { Moment.wallMilliseconds }

    private func carryOut(_ step: TaskQueue.Step) {
        switch step {
        case .start(let id): start(id)
        case .stop(let id): works[id]?.cancel()
        case .discard(let id): discard(id)
        case .save(let status): save(status)
        case .forget(let id): forget(id)
        case .tell(let status): tell(status)
        }
    }

    private func start(_ id: BackgroundTask.ID) {
        guard !isStopping, let status = queue[id] else { return }
        // After a crash the next daemon would send it again.
        guard unsaved[id] == nil || status.request.isRepeatable else {
            return inbox.post(.ended(id, .failed(.unnoted)))
        }
        daemon.logger?.info("attempt \(status.attempt)", metadata: ["task": "\(id)"])
        let before = discards[id]?.task
        var cleaning: Task<Void, Never>?
        if case .download = status.request.work { cleaning = self.cleaning }
        works[id] = Task.detached { [runner, inbox, cleaning] in
            await before?.value
            await cleaning?.value
            let end = await runner.run(status) { inbox.post($0, of: id) }
            inbox.post(.ended(id, end))
        }
    }

    /// Handles the end of a task's work.
    func take(_ end: TaskQueue.End, of id: BackgroundTask.ID) {
        works[id] = nil
        switch end {
        case .done: daemon.logger?.info("done", metadata: ["task": "\(id)"])
        case .failed(let failure): daemon.logger?.info("failed: \(failure)", metadata: ["task": "\(id)"])
        case .stopped: break
        }
        apply(.ended(id, end))
    }

    // MARK: Disk

    private func save(_ status: BackgroundStatus) {
        do throws(TransferError) {
            try folder.save(status)
            unsaved[status.id] = nil
        } catch {
            if unsaved.updateValue(status, forKey: status.id) == nil {
                daemon.logger?.error("a task state cannot be stored: \(error)", metadata: ["task": "\(status.id)"])
            }
            timers.set(.unsaved, Self.secondTry, from: .fine)
        }
    }

    func saveUnsaved() { for status in unsaved.values { save(status) } }

    private func discard(_ id: BackgroundTask.ID) {
        guard let owner = owners[id] else { return }
        // An upload leaves only its mark, which the same task recorded again may already use.
        if case .upload = owner.work { return }
        let before = discards[id]?.task
        lastDiscard += 1
        let number = lastDiscard
        let task = Task.detached { [runner, folder, inbox] in
            await before?.value
            await runner.discard(id, owner.work)
            if case .download = owner.work { folder.removeCheckpoint(of: id) }
            inbox.post(.discarded(id, number: number))
        }
        discards[id] = (number, task)
    }

    private func forget(_ id: BackgroundTask.ID) {
        unsaved[id] = nil
        ended.remove(id)
        if let owner = owners.removeValue(forKey: id) {
            tell(.gone(id), of: id, in: owner.identifier)
            if !relaunches.isEmpty { apply(relaunch: .gone(id, identifier: owner.identifier)) }
        }
        // A running discard removes the other files; meanwhile the task may be recorded again.
        folder.remove(id, discards[id] == nil ? TaskFolder.Part.allCases : [.task, .state])
    }

    func finishDiscard(_ id: BackgroundTask.ID, _ number: UInt64) {
        if discards[id]?.number == number { discards[id] = nil }
    }

    // MARK: Events

    private func tell(_ status: BackgroundStatus) {
        tell(.status(status), of: status.id, in: status.identifier)
        if !relaunches.isEmpty { apply(relaunch: .status(status)) }
        guard status.isFinished else { return _ = ended.remove(status.id) }
        guard ended.insert(status.id).inserted else { return }
        finishing += 1
        Task.detached { [daemon, inbox] in
            await daemon.finished(status)
            inbox.post(.finished)
        }
    }

    private func tell(_ event: DaemonEvent, of id: BackgroundTask.ID, in identifier: String) {
        for client in connections.values where client.isWatching || client.identifiers.contains(identifier) {
            client.outbox.add(event, of: id)
        }
    }

    // MARK: Rate

    /// Applies the schedule's current rate, and notes when it may change.
    func applySchedule() {
        let (rate, change) = schedule.current(at: now / 1000)
        scheduleChange = change.map { $0 * 1000 }
        runner.sessions.setRate(rate == 0 ? nil : rate)
        if isStopping { return }
        if isLimited != (rate ?? 0 > 0) {
            isLimited.toggle()
            apply(.limited(isLimited))
        }
        guard isHeld != (rate == 0) else { return }
        isHeld = rate == 0
        apply(.held(isHeld))
    }
}

extension BackgroundFailure {
    /// The failure of an upload that must not be sent twice and whose start is not on disk.
    fileprivate static let unnoted = BackgroundFailure(
        .cannotWriteFile, "its start could not be recorded on disk, so it was not sent", isRetryable: true)
}
