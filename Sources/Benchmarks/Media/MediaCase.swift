import Glibc
import TestSupport

/// Thumbnails and renditions of real photos beside vips and the least work with libjpeg, and a photo made to exhaust
/// memory.
enum MediaCase {
    private static let batch = 20
    private static let ours = "byteclub"
    private static let least = "least work in C"
    private static let vips = "vipsthumbnail"

    static func run(_ settings: Settings) async throws -> [Table] {
        guard let photos = settings.photos else { return [] }
        let folder = settings.folder("media")
        defer { settings.discard(folder) }
        let contestants = try await contestants(in: folder)
        LocalFiles.makeFolder(folder + "/in")
        let paths = { (kind: String) in (0..<batch).map { "\(folder)/in/\(kind)\($0 + 10).jpg" } }
        let (spheres, bare, progressive) = (paths(""), paths("bare-"), paths("progressive-"))
        for (index, path) in spheres.enumerated() { try link(photos + "/\(index % 2 + 1).jpg", path) }
        for (index, path) in bare.enumerated() {
            try LocalFiles.write(withoutTrailer(Fixture.bytes(at: photos + "/\(index % 2 + 1).jpg")), to: path)
        }
        for path in progressive { try link(photos + "/1_blurred.jpg", path) }
        let whole = "\(batch) spheres of 5760x2880 to"
        let quality = "CPU and dB against the full size by Lanczos"
        var tables: [Table] = []
        for (title, size, files) in [
            ("\(whole) 128 px, \(quality)", 128, spheres), ("\(whole) 640 px, \(quality)", 640, spheres),
            ("\(whole) 1024 px, \(quality)", 1024, spheres),
            ("the same without their previews to 128 px", 128, bare),
            ("the same without their previews to 640 px", 640, bare),
            (
                "\(batch) progressive spheres of 5760x2880 with a preview of 256 px to 128 px", 128, progressive
            ),
        ] {
            tables.append(try await race(title, size, files, contestants, settings.rounds, folder))
        }
        tables.append(try await renditions(spheres[0], settings.rounds, folder))
        if let table = try await bomb(folder, settings.rounds) { tables.append(table) }
        return tables
    }

    private struct Contestant {
        let name: String
        let program: String
        /// The arguments for a size, a folder for the results, and photos.
        let arguments: @Sendable (Int, String, [String]) -> [String]
    }

    private static func contestants(in folder: String) async throws -> [Contestant] {
        var all = [
            Contestant(name: ours, program: Program.path("Benchmarks")) { ["pictures", "\($0)", $1] + $2 }
        ]
        if let program = try await LeastWork.compiled(in: folder) {
            all.append(Contestant(name: least, program: program) { ["\($0)", $1] + $2 })
        }
        if let program = Program.system(vips) {
            all.append(
                Contestant(name: vips, program: program) { ["--size", "\($0)", "-o", $1 + "/%s.jpg[Q=82]"] + $2 })
        }
        return all
    }

    /// The contestants by turns on the same photos, with processor time relative to ours.
    private static func race(
        _ title: String, _ size: Int, _ photos: [String], _ contestants: [Contestant], _ rounds: Int, _ folder: String
    ) async throws -> Table {
        var runs = Runs()
        for _ in 0..<rounds {
            for (index, contestant) in contestants.enumerated() {
                let output = folder + "/out-\(index)"
                LocalFiles.makeFolder(output)
                let arguments = contestant.arguments(size, output, photos)
                runs.add(contestant.name, try await Stopwatch.run(contestant.program, arguments, in: folder))
            }
        }
        var table = Table(title: title, header: ["contestant", "CPU ms each", "byteclub is x", "peak MiB", "dB"])
        for (index, contestant) in contestants.enumerated() {
            let quality = try await quality(of: folder + "/out-\(index)", photos, size, folder)
            let median = runs.median(contestant.name)
            table.rows.append([
                contestant.name, Table.number(median.processor * 1000 / Double(photos.count), 1),
                Table.number(runs.median(ours).processor / median.processor, 2), Table.number(median.memory, 0),
                quality.map { Table.number($0, 2) } ?? "",
            ])
        }
        return table
    }

    /// The mean PSNR in decibels of the first two results, compared with vips at full size; nil without vips.
    private static func quality(
        of output: String, _ photos: [String], _ size: Int, _ folder: String
    ) async throws -> Double? {
        guard let vips = Program.system("vips") else { return nil }
        var ratios: [Double] = []
        for photo in photos.prefix(2) {
            let name = photo.split(separator: "/").last.map(String.init) ?? photo
            let reference = folder + "/reference-\(size)-\(name).ppm"
            if !LocalFiles.exists(reference) {
                // Without a gap nothing is shrunk before the filter.
                let scale = "\(Double(size) / 5760)"
                try await Program.run(
                    vips, ["resize", photo, reference, scale, "--kernel", "lanczos3", "--gap", "0"],
                    timeout: .seconds(120)
                ).succeeded()
            }
            let decoded = folder + "/decoded.ppm"
            let made = try await Program.run(vips, ["copy", output + "/" + name, decoded])
            guard made.status == 0, let whole = Pixmap(reference), let own = Pixmap(decoded),
                let ratio = whole.ratio(to: own)
            else { throw Stopwatch.Failure(description: "\(output)/\(name) is no picture of \(size) pixels") }
            ratios.append(ratio)
        }
        return ratios.reduce(0, +) / Double(ratios.count)
    }

    /// Five sizes from one decode beside one decode for each.
    private static func renditions(_ photo: String, _ rounds: Int, _ folder: String) async throws -> Table {
        let sizes = [4096, 2048, 1024, 512, 256]
        let output = folder + "/renditions"
        LocalFiles.makeFolder(output)
        let program = Program.path("Benchmarks")
        let list = sizes.map { "\($0)" }.joined(separator: ",")
        var runs = Runs()
        for _ in 0..<rounds {
            runs.add("one decode", try await Stopwatch.run(program, ["pictures", list, output, photo], in: folder))
            var sum = Measurement(seconds: 0)
            for size in sizes {
                let one = try await Stopwatch.run(program, ["pictures", "\(size)", output, photo], in: folder)
                sum.seconds += one.seconds
                sum.processor += one.processor
                sum.memory = max(sum.memory, one.memory)
            }
            runs.add("thumbnails apart", sum)
        }
        return runs.table(
            "4096, 2048, 1024, 512 and 256 px of a sphere", unit: "photos/s", amount: 1, reference: "thumbnails apart")
    }

    /// A small progressive file whose coefficients would fill 880 MiB, which is refused; nil without vips.
    private static func bomb(_ folder: String, _ rounds: Int) async throws -> Table? {
        guard let vips = Program.system("vips") else { return nil }
        let (plain, photo) = (folder + "/black.v", folder + "/bomb.jpg")
        for arguments in [["black", plain, "30000", "15000"], ["jpegsave", plain, photo, "--interlace"]] {
            try await Program.run(vips, arguments, timeout: .seconds(300)).succeeded()
        }
        _ = unsafe unlink(plain)
        var runs: [Measurement] = []
        for _ in 0..<rounds {
            runs.append(
                try await Stopwatch.run(
                    Program.path("Benchmarks"), ["pictures", "256", folder, photo], in: folder, accepts: [65]))
        }
        let median = Measurement.median(runs)
        return Table(
            title: "a progressive photo of 30000x15000 in \(Fixture.bytes(at: photo).count >> 10) KiB is refused",
            header: ["contestant", "ms", "CPU ms", "peak MiB"],
            rows: [
                [
                    ours, Table.number(median.seconds * 1000, 1), Table.number(median.processor * 1000, 0),
                    Table.number(median.memory, 0),
                ]
            ])
    }

    /// A photo up to its own end, without the larger pictures that follow it.
    private static func withoutTrailer(_ bytes: [UInt8]) -> [UInt8] {
        let mark: [UInt8] = [0xFF, 0xD9, 0xFF, 0xD8, 0xFF]
        let end = bytes.indices.dropLast(mark.count).first { place in
            bytes[place] == 0xFF && bytes[place..<place + mark.count].elementsEqual(mark) && place > 65_536
        }
        return Array(bytes.prefix(end.map { $0 + 2 } ?? bytes.count))
    }

    private static func link(_ target: String, _ path: String) throws {
        guard unsafe symlink(target, path) == 0 else { throw Stopwatch.Failure(description: "cannot link \(path)") }
    }
}
