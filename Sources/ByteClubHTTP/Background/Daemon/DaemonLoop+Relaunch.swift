import Glibc
import Logging

/// The programs that are started again: the plan gets their events, and the loop carries out its steps in order.
extension DaemonLoop {
    /// Loads the sessions' commands; the tasks are those on disk.
    func loadRelaunches(_ tasks: [BackgroundStatus]) {
        let (records, damage) = folder.relaunches()
        for line in damage { daemon.logger?.warning("\(line)") }
        apply(relaunch: .loaded(records, tasks))
    }

    func apply(relaunch event: RelaunchPlan.Event) {
        for step in relaunches.handle(event, at: .fine) { carryOut(step) }
    }

    private func carryOut(_ step: RelaunchPlan.Step) {
        switch step {
        case .save(let record):
            do throws(TransferError) { try folder.save(record) } catch {
                // This daemon knows it nevertheless.
                daemon.logger?.error(
                    "a session's command cannot be stored: \(error)", metadata: ["session": "\(record.identifier)"])
            }
        case .remove(let identifier): folder.removeRelaunch(identifier)
        case .start(let number, let record): start(number, record)
        }
    }

    /// Starts a session's program, and collects its exit status, by a thread: a file may be on a disk that hangs.
    private func start(_ number: UInt64, _ record: RelaunchRecord) {
        let body = { @Sendable [inbox, logger = daemon.logger] in
            let hasRun = Self.run(record, logger) { inbox.post(.relaunch(.started(number))) }
            inbox.post(.relaunch(hasRun ? .exited(number) : .failed(number)))
        }
        do throws(TransferError) { try OwnThread.start(body) } catch {
            daemon.logger?.error("\(Self.failure(record, error.message))", metadata: Self.metadata(record))
            inbox.post(.relaunch(.failed(number)))
        }
    }

    /// Runs a session's program until it ends; blocks.
    ///
    /// - Returns: Whether it could be started.
    private static func run(_ record: RelaunchRecord, _ logger: Logger?, started: () -> Void) -> Bool {
        let program = record.relaunch.command.first ?? ""
        var process: pid_t = 0
        let code = DetachedProgram.start(
            &process, program, record.relaunch.command,
            variables: ["\(BackgroundRelaunch.variable)=\(record.identifier)"])
        guard code == 0 else {
            logger?.error("\(failure(record, systemMessage(code)))", metadata: metadata(record))
            return false
        }
        logger?.info("started '\(program)' (process \(process)), since results wait", metadata: metadata(record))
        started()
        let status = DetachedProgram.wait(for: process, options: 0) ?? 0
        if status != 0 {
            logger?.warning("'\(program)' \(DetachedProgram.words(status))", metadata: metadata(record))
        }
        return true
    }

    private static func failure(_ record: RelaunchRecord, _ reason: String) -> String {
        "'\(record.relaunch.command.first ?? "")' cannot be started for waiting results: \(reason)"
    }

    private static func metadata(_ record: RelaunchRecord) -> Logger.Metadata { ["session": "\(record.identifier)"] }
}
