import Logging

/// The tasks: what happens to them is told to the queue, and what it says is carried out in order.
extension DaemonLoop {
    private static let secondTry: Duration = .seconds(10)

    /// Takes the folder's tasks over.
    func load() throws(TransferError) {
        var (tasks, damage) = try folder.load()
        for line in damage { daemon.logger?.warning("\(line)") }
        for index in tasks.indices where !tasks[index].isFinished { restoreProgress(&tasks[index]) }
        for status in tasks {
            owners[status.id] = TaskOwner(identifier: status.identifier, work: status.request.work)
            if status.isFinished { ended.insert(status.id) }
            // The daemon may have been killed before it could remove this.
            if status.failure?.code == TransferError.Code.cancelled.description {
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
    }

    /// How far a download was is noted in its journal alone; it is told from the start, not from the next byte.
    private func restoreProgress(_ status: inout BackgroundStatus) {
        guard case .download = status.request.work, let data = DownloadJournal(folder, status.id).load() else { return }
        status.bytes = DownloadFile.bytesLeft(of: data.record)
        if data.bytesExpectedToReceive >= 0 { status.total = data.bytesExpectedToReceive }
    }

    func apply(_ event: TaskQueue.Event) {
        for step in queue.handle(event, at: now) { carryOut(step) }
    }

    /// The present, in milliseconds since 1970.
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
        // After a crash it would be sent again.
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

    /// A work is over.
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
        // Of an upload nothing is left, and the same task recorded anew has its mark already.
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
        discards[id] = Discard(number: number, task: task)
    }

    private func forget(_ id: BackgroundTask.ID) {
        unsaved[id] = nil
        ended.remove(id)
        if let owner = owners.removeValue(forKey: id) { tell(.gone(id), of: id, in: owner.identifier) }
        // What is being discarded removes the rest; until then the task may be recorded anew.
        folder.remove(id, discards[id] == nil ? TaskFolder.Part.allCases : [.task, .state])
    }

    func finishDiscard(_ id: BackgroundTask.ID, _ number: UInt64) {
        if discards[id]?.number == number { discards[id] = nil }
    }

    // MARK: Telling

    private func tell(_ status: BackgroundStatus) {
        tell(.status(status), of: status.id, in: status.identifier)
        guard status.isFinished else { return _ = ended.remove(status.id) }
        guard ended.insert(status.id).inserted else { return }
        tellings += 1
        Task.detached { [daemon, inbox] in
            await daemon.finished(status)
            inbox.post(.toldEnd)
        }
    }

    private func tell(_ event: DaemonEvent, of id: BackgroundTask.ID, in identifier: String) {
        for client in connections.values where client.isWatching || client.identifiers.contains(identifier) {
            client.outbox.tell(event, of: id)
        }
    }

    // MARK: Rate

    /// Does what the schedule says now, and finds out when it may say something else.
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
    /// Why an upload that must not be sent twice is not sent for now.
    fileprivate static let unnoted = BackgroundFailure(
        code: TransferError.Code.cannotWriteFile.description,
        message: "its start could not be recorded on disk, so it was not sent", isRetryable: true)
}
