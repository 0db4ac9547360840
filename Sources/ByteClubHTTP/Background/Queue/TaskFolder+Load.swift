import ByteClubFiles
import Glibc

extension TaskFolder {
    /// Reads all tasks, moves damaged files away, and removes the remains of a killed daemon.
    ///
    /// An upload that must not be sent twice and whose status is damaged counts as running, also on disk.
    ///
    /// - Returns: The tasks, oldest first, and a line for people about each damaged file with its new place.
    /// - Throws: ``TransferError/Code/badConfiguration`` when the folder cannot be read.
    func load() throws(TransferError) -> (tasks: [BackgroundStatus], damage: [String]) {
        let names: [String]
        do throws(FileFailure) { names = try Array(FolderNames(path)) } catch {
            throw TransferError(
                .badConfiguration, "the folder of background transfers '\(path)' cannot be read: \(error.reason)")
        }
        var damage: [String] = []
        let batches = Set(names.compactMap { Self.number(of: $0, suffix: Self.batchSuffix) })
        var parts: [BackgroundTask.ID: Set<Part>] = [:]
        for name in names {
            for part in Part.allCases {
                if let number = Self.number(of: name, suffix: ".\(part)") {
                    parts[BackgroundTask.ID(number: number), default: []].insert(part)
                }
            }
            let isJournal = [".new", ".kept"].contains { Self.number(of: name, suffix: ".\(Part.resume)\($0)") != nil }
            if isJournal || SealedFile.isHalfWritten(name) { unsafe unlink("\(path)/\(name)") }
        }
        var records: [TaskOrderRecord] = []
        for (id, parts) in parts.sorted(by: { $0.key.number < $1.key.number }) {
            guard parts.contains(.task) else {
                for part in parts { unsafe unlink(file(part, of: id)) }
                continue
            }
            guard var record = record(of: id, parts, &damage) else { continue }
            if batches.contains(record.batch) {
                remove(id)
                continue
            }
            readState(of: &record.task, &damage)
            if case .damaged = SealedFile.read(
                file(.checkpoint, of: id), kind: Part.checkpoint.kind, limit: Self.mostBytes)
            {
                damage.append("the checkpoint of task \(id) is damaged, so it starts over; \(move("\(id).checkpoint"))")
            }
            records.append(record)
        }
        for batch in batches { unsafe unlink(batchFile(batch)) }
        switch sealed(scheduleFile, Self.scheduleKind, as: RateSchedule.self) {
        case .value(let schedule) where schedule.canBeKept: break
        case .value, .damaged: damage.append("the schedule is damaged, so no limit applies; \(move("schedule"))")
        case .missing, .unreadable: break
        }
        records.sort { ($0.task.created, $0.batch, $0.place) < ($1.task.created, $1.batch, $1.place) }
        return (records.map(\.task), damage)
    }

    /// The content of a file, or the problem.
    enum Sealed<Value> {
        case value(Value)
        case missing
        case damaged
        case unreadable(Int32)
    }

    /// Reads a file; one whose content is no such value is damaged.
    func sealed<Value: Recordable>(
        _ path: String, _ kind: String, as type: Value.Type, format: RecordReader.Format = .present,
        limit: Int = mostBytes
    ) -> Sealed<Value> {
        switch SealedFile.read(path, kind: kind, limit: limit) {
        case .whole(let bytes):
            if let value = try? Value(decoding: bytes, format: format) { .value(value) } else { .damaged }
        case .missing: .missing
        case .damaged: .damaged
        case .unreadable(let code): .unreadable(code)
        }
    }

    private func record(of id: BackgroundTask.ID, _ parts: Set<Part>, _ damage: inout [String]) -> TaskOrderRecord? {
        let path = file(.task, of: id)
        var record = sealed(path, Part.task.kind, as: TaskOrderRecord.self)
        if case .damaged = record {
            record = sealed(path, Self.formerTaskKind, as: TaskOrderRecord.self, format: .withoutConditions)
        }
        switch record {
        case .value(let record) where record.task.id == id: return record
        case .value, .damaged:
            let moved = move("\(id).task")
            for part in parts where part != .task { _ = move("\(id).\(part)") }
            damage.append("task \(id) is damaged and cannot be done; \(moved)")
        case .unreadable(let code):
            damage.append("task \(id) cannot be read from '\(file(.task, of: id))': \(systemMessage(code))")
        case .missing: break
        }
        return nil
    }

    private func readState(of task: inout BackgroundStatus, _ damage: inout [String]) {
        let id = task.id
        var reason: String?
        switch SealedFile.read(file(.state, of: id), kind: Part.state.kind, limit: Self.mostBytes) {
        case .missing: return
        case .whole(let bytes):
            var (read, reader) = (task, RecordReader(bytes))
            if (try? read.readState(&reader)) != nil, reader.isAtEnd {
                task = read
                return
            }
        case .damaged: break
        case .unreadable(let code): reason = "'\(file(.state, of: id))' cannot be read: \(systemMessage(code))"
        }
        if task.request.isRepeatable {
            let place = reason ?? move("\(id).state")
            damage.append("the status of task \(id) is damaged, so it starts over; \(place)")
            return
        }
        damage.append(
            "the status of task \(id) is damaged, and it may have been sent already; \(reason ?? link("\(id).state"))")
        guard reason == nil else {
            // The file may be whole, so it stays: the task has failed until a daemon can read it.
            (task.state, task.failure, task.changed) = (.failed, .interrupted, Moment.wallMilliseconds)
            return
        }
        // The queue has it fail, and so does the queue of any later daemon. Without a status it would be sent, so the
        // damaged one is replaced at once; if that fails it stays, and the next daemon reads it as this one did.
        task.state = .running
        try? save(task)
    }

    /// Moves a file to `damaged` without replacing another one.
    ///
    /// - Returns: Its new place, as a part of a message.
    func move(_ name: String) -> String {
        guard let place = preserve(name, by: { unsafe rename($0, $1) == 0 }) else {
            return "'\(path)/\(name)' cannot be moved to '\(path)/damaged'"
        }
        return "it is now '\(place)'"
    }

    /// Links a file into `damaged`, so that it may be replaced.
    ///
    /// - Returns: The second name, as a part of a message.
    private func link(_ name: String) -> String {
        guard let place = preserve(name, by: { unsafe Glibc.link($0, $1) == 0 }) else {
            return "'\(path)/\(name)' cannot be kept in '\(path)/damaged'"
        }
        return "it is kept as '\(place)'"
    }

    private func preserve(_ name: String, by put: (_ file: String, _ target: String) -> Bool) -> String? {
        let folder = "\(path)/damaged"
        unsafe mkdir(folder, 0o700)
        for number in 1...1000 {
            let target = "\(folder)/\(name)\(number == 1 ? "" : ".\(number)")"
            if unsafe access(target, F_OK) == 0 { continue }
            return put("\(path)/\(name)", target) ? target : nil
        }
        return nil
    }

    private static func number(of name: String, suffix: String) -> UInt64? {
        guard name.hasSuffix(suffix), let id = BackgroundTask.ID(String(name.dropLast(suffix.count))),
            "\(id)\(suffix)" == name
        else { return nil }
        return id.number
    }
}
