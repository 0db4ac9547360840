import Glibc
import Logging

/// The clients' calls.
extension DaemonLoop {
    func take(_ frame: DaemonFrame, from client: DaemonConnection) {
        guard case .call(let number, let call) = frame else {
            return drop(client, "it sent a message that only a daemon sends")
        }
        if case .hello(let version) = call { return greet(client, number, version) }
        guard client.isGreeted else { return drop(client, "it did not send its version first") }
        do throws(TransferError) {
            try take(call, number, from: client)
        } catch {
            answer(client, number, .refused(error.code, error.message))
        }
    }

    func answer(_ client: DaemonConnection, _ number: UInt64, _ answer: DaemonAnswer) {
        let frame = DaemonFrame.answer(number: number, answer)
        if client.outbox.add(frame) { return }
        switch answer {
        case .tasks(let all) where all.count > 1:
            self.answer(client, number, .firstTasks(Array(all.prefix(all.count / 2))))
            return self.answer(client, number, .tasks(Array(all.dropFirst(all.count / 2))))
        case .firstTasks(let some) where some.count > 1:
            self.answer(client, number, .firstTasks(Array(some.prefix(some.count / 2))))
            return self.answer(client, number, .firstTasks(Array(some.dropFirst(some.count / 2))))
        default: break
        }
        let message = "the answer is longer than \(DaemonFrame.limit) bytes"
        _ = client.outbox.add(.answer(number: number, .refused(.bodyTooLarge, message)))
    }

    /// Answers the changes whose tasks have stopped, or had their time to stop; true if there were any.
    @discardableResult
    func answerChanges(of client: DaemonConnection, all isAll: Bool = false) -> Bool {
        guard !client.changes.isEmpty else { return false }
        let now = Moment.fine
        let due = client.changes.filter { change in
            isAll || change.deadline <= now || !change.ids.contains(where: queue.isStopping)
        }
        client.changes.removeAll { change in due.contains { $0.number == change.number } }
        for change in due { answer(client, change.number, .tasks(change.ids.compactMap { queue[$0] })) }
        return !due.isEmpty
    }

    private func greet(_ client: DaemonConnection, _ number: UInt64, _ version: Int64) {
        if version == DaemonFrame.version {
            client.isGreeted = true
            return answer(client, number, .hello(version: version, process: getpid()))
        }
        let message =
            "the daemon that runs (process \(getpid())) speaks version \(DaemonFrame.version) of its messages, this "
            + "program version \(version); end the daemon to have another one started"
        answer(client, number, .refused(.daemonUnavailable, message))
        client.isEnding = true
    }

    private func take(_ call: DaemonCall, _ number: UInt64, from client: DaemonConnection) throws(TransferError) {
        switch call {
        case .hello: break
        case .attach(let identifier, let relaunch): try attach(client, number, identifier, relaunch)
        case .submit(let identifier, let submissions):
            answer(client, number, .tasks(try submit(submissions, identifier)))
        case .list: answer(client, number, .tasks(queue.all))
        case .change(let ids, let change):
            guard ids.allSatisfy({ queue[$0] != nil }) else { throw unknown(ids) }
            apply(.changed(ids, change))
            let deadline = Moment.fine.advanced(by: daemon.longestStop)
            client.changes.append(PendingChange(number: number, ids: ids, deadline: deadline))
            answerChanges(of: client)
        case .acknowledge(let ends):
            apply(.acknowledged(ends))
            answer(client, number, .done)
        case .watch:
            client.isWatching = true
            answer(client, number, .done)
            tellAll(client) { _ in true }
        case .schedule: answer(client, number, .schedule(schedule))
        case .setSchedule(let schedule):
            try setSchedule(schedule)
            answer(client, number, .done)
        case .relay(let request):
            guard client.relayed[number] == nil else { return drop(client, "it used a number twice") }
            let connection = client.number
            client.relayed[number] = Task.detached { [relay, inbox] in
                let answer = await relay.perform(request)
                inbox.post(.relayed(connection: connection, number: number, answer))
            }
        case .stop:
            answer(client, number, .done)
            stop()
        }
    }

    private func attach(
        _ client: DaemonConnection, _ number: UInt64, _ identifier: String, _ relaunch: BackgroundRelaunch?
    ) throws(TransferError) {
        try BackgroundRequest.check(identifier: identifier)
        try relaunch?.check()
        guard sessions[identifier] == nil else {
            throw TransferError(.identifierInUse, "another session has the identifier '\(identifier)'")
        }
        sessions[identifier] = client.number
        client.identifiers.insert(identifier)
        let tasks = relaunch == nil ? [] : queue.all.filter { $0.identifier == identifier }
        apply(relaunch: .attached(identifier, relaunch, tasks))
        answer(client, number, .done)
        tellAll(client) { $0.identifier == identifier }
    }

    private func tellAll(_ client: DaemonConnection, where isMeant: (BackgroundStatus) -> Bool) {
        for status in queue.all where isMeant(status) { client.outbox.add(.status(status), of: status.id) }
        _ = client.outbox.add(.event(.caughtUp))
    }

    private func unknown(_ ids: [BackgroundTask.ID]) -> TransferError {
        let names = ids.filter { queue[$0] == nil }.map(\.description)
        return TransferError(.unknownTask, "unknown task \(names.prefix(5).joined(separator: ", "))")
    }

    /// Records the tasks that are not recorded yet.
    private func submit(
        _ submissions: [Submission], _ identifier: String
    ) throws(TransferError) -> [BackgroundStatus] {
        try BackgroundRequest.check(identifier: identifier)
        var tasks: [BackgroundStatus] = []
        var marks: [(id: BackgroundTask.ID, bytes: [UInt8])] = []
        var new: Set<BackgroundTask.ID> = []
        for submission in submissions where queue[submission.id] == nil && new.insert(submission.id).inserted {
            try submission.request.check()
            switch submission.request.work {
            case .download: break
            case .upload(_, let file): marks.append((submission.id, try UploadMark(file: file).encoded))
            case .custom(let kind, _):
                guard daemon.works[kind] != nil else {
                    throw TransferError(.badRequest, "the daemon does not support work of the kind '\(kind)'")
                }
            }
            tasks.append(BackgroundStatus(submission.id, identifier, submission.request, at: now))
        }
        do throws(TransferError) {
            // Recording the tasks syncs the folder.
            for (id, bytes) in marks { try folder.save(checkpoint: bytes, of: id, isNameSynced: false) }
            try folder.record(tasks)
        } catch {
            for id in new { folder.remove(id) }
            throw error
        }
        for status in tasks { owners[status.id] = (identifier, status.request.work) }
        applySchedule()
        apply(.submitted(tasks))
        return submissions.compactMap { queue[$0.id] }
    }

    private func setSchedule(_ schedule: RateSchedule) throws(TransferError) {
        try schedule.check()
        try folder.save(schedule)
        self.schedule = schedule
        applySchedule()
    }
}
