import CLinux
import Glibc
import TestSupport

/// The runs of several rounds, by contestant.
struct Runs {
    private var all: [String: [Measurement]] = [:]

    /// Adds a contestant's run.
    mutating func add(_ name: String, _ run: Measurement) { all[name, default: []].append(run) }

    /// The median of each figure.
    func median(_ name: String) -> Measurement { .median(all[name] ?? []) }

    /// The contestants in an order, by default by name, with their speeds relative to one of them.
    func table(
        _ title: String, unit: String, amount: Double, reference: String, of names: [String]? = nil
    ) -> Table {
        Table.race(
            title, unit: unit, amount: amount, reference: reference,
            (names ?? all.keys.sorted()).map { ($0, all[$0] ?? []) })
    }
}

/// Files on their way up to a server and down again, by ByteClub and by others.
struct UpAndDown {
    /// The name of our runs.
    let ours: String
    /// The name of the least time that the disk needs.
    let limit: String
    var rcloneDown = "rclone < nginx, no fsync"
    var up = Runs()
    var down = Runs()
    /// Processor seconds of our server.
    var server = (up: [Double](), down: [Double]())

    /// Syncs the first member's files up, and down into the second member's mirror, which is empty.
    mutating func sync(_ club: Club) async throws {
        let (one, two) = (club.members[0], club.members[1])
        let start = club.processorTime
        up.add(ours, try await one.timedSync(in: club.folder))
        let middle = club.processorTime
        down.add(ours, try await two.timedSync(in: club.folder))
        server.up.append(middle - start)
        server.down.append(club.processorTime - middle)
        guard FileTree(one.mirror) == FileTree(two.mirror) else {
            throw Stopwatch.Failure(description: "the mirrors differ")
        }
    }

    /// Sends a folder's files to nginx and gets them back, by curl and by rclone.
    ///
    /// - Parameters:
    ///   - names: The files, each in a folder.
    ///   - source: The folder.
    ///   - folder: Where nginx and the copies are.
    ///   - parallel: How many files curl transfers at once.
    ///   - selection: The arguments that select files for rclone, which may pause before each, and the factor from its
    ///     time for them to that for all.
    /// - Throws: When a program fails.
    mutating func addPeers(
        _ names: [String], from source: String, in folder: String, parallel: Int,
        selection: (_ isPaced: Bool) throws -> (arguments: [String], factor: Double)
    ) async throws {
        let nginx = try await Nginx.start(in: folder)
        defer { nginx.stop() }
        for below in Set(names.compactMap { $0.split(separator: "/").first }) {
            LocalFiles.makeFolder("\(nginx.root)/curl/\(below)")
        }
        for (way, name, option, place) in [
            (\Self.up, "curl -Z > nginx, no fsync", "upload-file", source),
            (\Self.down, "curl -Z < nginx, no fsync", "output", folder + "/curl"),
        ] {
            let config = "\(folder)/curl.\(option)"
            let list = names.map { "\(option) = \"\(place)/\($0)\"\nurl = \"\(nginx.url)/curl/\($0)\"\n" }
            try LocalFiles.write(list.joined(), to: config)
            let run = try await Stopwatch.run(
                "curl", ["-sS", "-Z", "--parallel-max", "\(parallel)", "--create-dirs", "-K", config], in: folder)
            self[keyPath: way].add(name, run)
        }
        guard Peer.rclone.isInstalled else { return }
        let remote = ":webdav,url='\(nginx.url)/rclone':"
        LocalFiles.makeFolder(nginx.root + "/rclone")
        let flags = await Peer.rcloneFlags()
        let (arguments, factor) = try selection(!flags.contains("0"))
        for (way, name, from, to) in [
            (\Self.up, "rclone > nginx, no fsync", source, remote),
            (\Self.down, rcloneDown, remote, folder + "/rclone-down"),
        ] {
            var run = try await Stopwatch.run(
                "rclone", ["copy", from, to] + arguments + flags,
                environment: ["HOME": folder, "XDG_CONFIG_HOME": folder + "/rclone-config"], in: folder)
            run.seconds *= factor
            run.processor *= factor
            self[keyPath: way].add(name, run)
        }
    }

    /// Syncs the file system to which the files were written since a moment, and adds that as the limit of both ways.
    mutating func addLimit(since start: ContinuousClock.Instant, in folder: String) throws {
        let descriptor = unsafe byteclub_open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        defer { close(descriptor) }
        guard descriptor >= 0, byteclub_syncfs(descriptor) == 0 else {
            throw Stopwatch.Failure(description: "cannot sync \(folder)")
        }
        let run = Measurement(seconds: Stopwatch.seconds(since: start))
        up.add(limit, run)
        down.add(limit, run)
    }

    /// Processor time for a file at each end, which is independent of the disk.
    func processorTime(_ title: String, files: Int, unit: String, perSecond: Double, digits: Int) -> Table {
        var table = Table(title: title, header: ["way", "client \(unit)", "server \(unit)"])
        for (way, client, server) in [("up", up, server.up), ("down", down, server.down)] {
            table.rows.append(
                [way]
                    + [client.median(ours).processor, Measurement.median(server)].map {
                        Table.number($0 / Double(files) * perSecond, digits)
                    })
        }
        return table
    }
}

extension MemberMachine {
    /// Times a command of `byteclub` with its output in a file, since the other contestants print none to a terminal.
    func timed(_ arguments: [String], in folder: String) async throws -> Measurement {
        try await Stopwatch.run(
            "/bin/sh", ["-c", "exec \"$@\" > '\(folder)/.told'", "sh", Program.path("byteclub")] + arguments,
            environment: environment, in: folder)
    }

    /// Times one sync of the mirror.
    func timedSync(in folder: String) async throws -> Measurement {
        try await timed(["sync", mirror, "--once", "--json"], in: folder)
    }
}

extension ProgramResult {
    /// The result, which must be a success.
    @discardableResult func succeeded() throws -> ProgramResult {
        guard status == 0 else { throw Stopwatch.Failure(description: "\(self)") }
        return self
    }
}
