import Glibc
import HTTPTypes

@testable import ByteClubHTTP

extension Worker {
    /// Downloads a file, perhaps in several goes, with what was left by this session or by another.
    mutating func download() async {
        let path = world.newPath("download")
        defer { unlink(path) }
        let wasThere = random.one(in: 4)
        if wasThere { writeFile(path, [1, 2, 3]) }
        var file = anyFile
        var data: ResumeData?
        var all: [ResumeData] = []
        // Whatever no task took over is not needed any more.
        defer { for data in all { data.discard() } }
        if random.one(in: 3), let parked = world.unpark(home.name) { (data, file) = (parked.data, parked.file) }
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            var options = options()
            // Slow enough to be stopped, or cut off, on the way.
            if random.one(in: 2) { options.rateLimit = Int.random(in: 200_000...4_000_000, using: &random) }
            let journal = random.one(in: 3) ? world.newPath("journal") : nil
            defer { if let journal { unlink(journal) } }
            options.resumeJournal = journal
            let request = request(.get, "/file/\(file)")
            let task =
                data.map { session.downloadTask(resuming: $0, request: request, to: path, options: options) }
                ?? session.downloadTask(request, to: path, options: options)
            if let given = data { all.append(given) }
            data = nil
            let result: Result<TaskResult, TransferError>
            if random.one(in: 2) {
                result = await stop(task)
            } else {
                result = await perform("download", task, file: nil)
            }
            switch result {
            case .success(let result):
                if let written = result.file {
                    check(written, file, result)
                    return
                }
                data = result.resumeData
            case .failure(let error): data = error.resumeData
            }
            let left = readFile(path)
            if left != (wasThere ? [1, 2, 3] : nil) {
                world.ledger.violation("a download that failed left \(left?.count ?? -1) bytes: \(result)")
            }
            guard let kept = data else { continue }
            all.append(kept)
            data = tamper(with: kept, journal: journal)
        }
        if let data {
            // What it was made of may be there still: a task that is cancelled before its turn takes nothing over.
            all.removeAll { $0.temporaryFile == data.temporaryFile }
            world.park(data, file, home.name)
        }
    }

    func check(_ path: String, _ file: Int, _ result: TaskResult) {
        guard let bytes = readFile(path) else { return world.ledger.violation("a downloaded file is missing") }
        if let problem = Contents.objection(to: bytes, file: file) {
            world.ledger.violation("download of file \(file), \(result.metrics.attempts.count) attempts: \(problem)")
        }
    }

    /// Stops a download so that it can be continued.
    private mutating func stop(_ task: SessionTask) async -> Result<TaskResult, TransferError> {
        let pause = Int.random(in: 0...150_000, using: &random)
        let (kept, result) = await world.watch.expect("cancelKeepingResumeData \(task.request.path ?? "")") {
            task.resume()
            try? await Task.sleep(for: .microseconds(pause))
            let kept = await task.cancelKeepingResumeData()
            return (kept, await outcome(of: task))
        }
        note("stopped download", result)
        if kept != nil { world.ledger.outcome("stopped download", "kept data") }
        return result
    }

    /// Stores resume data as programs do, or spoils them; what a download may go on with.
    private mutating func tamper(with data: ResumeData, journal: String?) -> ResumeData? {
        switch Int.random(in: 0..<8, using: &random) {
        case 0:
            data.discard()
            return nil
        case 1: return nil
        case 2:
            var bytes = data.bytes
            let place = Int.random(in: 0..<bytes.count, using: &random)
            bytes[place] ^= UInt8(1 << Int.random(in: 0..<8, using: &random))
            if (try? ResumeData(bytes: bytes)) != nil { world.ledger.violation("damaged resume data were taken") }
            return data
        // After a kill, the file itself shows what came after a journal's last record.
        case 3 where data.record.modified != nil:
            writeFile(data.temporaryFile, [7], appending: true)
            world.ledger.outcome("resume data", "file changed")
            return data
        case 4:
            guard let journal, let bytes = readFile(journal), let journaled = try? ResumeData(bytes: bytes) else {
                return data
            }
            if journaled.temporaryFile != data.temporaryFile { world.ledger.violation("a journal names another file") }
            world.ledger.outcome("resume data", "journal read")
            _ = data.bytes
            return journaled
        case 5: return try? ResumeData(bytes: data.bytes)
        default: return data
        }
    }
}
