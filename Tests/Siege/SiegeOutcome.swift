import TestSupport

/// The outcome of a siege of one server.
struct SiegeOutcome: Sendable {
    /// A requirement: a figure, its bound, and whether it is met.
    struct Bar: Sendable {
        let name: String
        let figure: String
        let bound: String
        let isKept: Bool
    }

    /// Times of a kind of request in milliseconds, and refusals.
    struct Service: Sendable {
        let count: Int
        let p50: Double
        let p99: Double
        let worst: Double
        /// Unserved requests by status; 0 for those without an answer.
        let refusals: [Int: Int]

        init(_ requests: [HonestRequest]) {
            let times = requests.map(\.milliseconds)
            count = times.count
            (p50, p99) = (Measurement.percentile(0.5, of: times), Measurement.percentile(0.99, of: times))
            worst = times.max() ?? .nan
            refusals = requests.filter { !$0.isServed }.reduce(into: [:]) { $0[$1.status, default: 0] += 1 }
        }

        var refused: Int { refusals.values.reduce(0, +) }
        /// The refusals, as in `503: 4, none: 1`.
        var refusalText: String {
            refusals.sorted { $0.key < $1.key }.map { "\($0.key == 0 ? "none" : "\($0.key)"): \($0.value)" }
                .joined(separator: ", ")
        }
    }

    /// How much longer honest requests may take than with a quiet server.
    static let slowdown = 3.0
    /// The most memory of the server, in MiB.
    static let memoryLimit = 256.0
    /// Seconds in which memory, connections and processor must be back.
    static let timeToComeBack = 60.0
    /// How far above the quiet time's maximum a recovered server may be: memory in MiB, open files and a share of a
    /// core, for the processor above one and a half times the mean.
    private static let margin = (memory: 48.0, descriptors: 64, load: 0.1)

    /// Whose server it was.
    let name: String
    /// The parts of the run, in seconds since its start.
    let quiet: Range<Double>
    let siege: Range<Double>
    var after: Range<Double>
    /// The results of the attacks.
    let attacks: AttackForce.Outcome
    var requests: [HonestRequest] = []
    var samples: [ServerSample] = []
    /// The most memory that the server ever held, in MiB.
    var peakMemory = 0.0
    /// Whether the server ended by itself.
    var hasCrashed = false
    /// Whether it stopped in order when it was asked to.
    var hasStopped = true

    init(
        name: String, quiet: Range<Double>, siege: Range<Double>, after: Range<Double>, attacks: AttackForce.Outcome
    ) {
        (self.name, self.quiet, self.siege, self.after, self.attacks) = (name, quiet, siege, after, attacks)
    }

    /// How members were served in a part of the run, all together or for one errand.
    func service(_ span: Range<Double>, _ errand: Errand? = nil) -> Service {
        Service(requests.filter { span.contains($0.due) && (errand == nil || $0.errand == errand) })
    }

    /// How many times longer than with a quiet server the slowest hundredth took.
    var ratio: Double { service(siege).p99 / service(quiet).p99 }

    /// Whether all three have been back for some seconds.
    var isBackForGood: Bool {
        let backs = [memoryBack, descriptorsBack, processorBack]
        return backs.allSatisfy { ($0 ?? .infinity) + 3 < after.upperBound - after.lowerBound }
    }

    /// Seconds after which the memory was back; nil when it was not.
    var memoryBack: Double? {
        let most = samples.during(quiet).map(\.memory).max() ?? 0
        return back { $0.memory <= most + Self.margin.memory }
    }

    /// Seconds after which connections were back; nil when they were not.
    var descriptorsBack: Double? {
        let most = samples.during(quiet).map(\.descriptors).max() ?? 0
        return back { $0.descriptors <= most + Self.margin.descriptors }
    }

    /// Seconds after which the processor was back; nil when it was not.
    var processorBack: Double? {
        let bound = samples.during(quiet).load * 1.5 + Self.margin.load
        return back { sample in samples.during((sample.time - 3.5)..<(sample.time + 0.001)).load <= bound }
    }

    private func back(_ holds: (ServerSample) -> Bool) -> Double? {
        samples.during(after).settled(since: after.lowerBound, holds)
    }

    /// The most that the data folder took of the disk, in MiB.
    var mostDisk: Double { samples.map(\.disk).max() ?? 0 }

    /// The bars that a release must keep.
    var bars: [Bar] {
        let all = Service(requests)
        let quota = Double(SiegeClub.quota) / 1_048_576
        let missing = attacks.tallies.filter { !$0.tally.hasReached }.map(\.attack.name)
        var bars = [
            Bar(
                name: "honest p99, times that of a quiet server", figure: Table.number(ratio, 1),
                bound: "at most \(Table.number(Self.slowdown, 0))", isKept: ratio <= Self.slowdown),
            Bar(
                name: "honest requests refused",
                figure: "\(all.refused)\(all.refused > 0 ? " (\(all.refusalText))" : "")",
                bound: "0", isKept: all.refused == 0 && all.count > 0),
            Bar(
                name: "most memory of the server, MiB", figure: Table.number(peakMemory, 0),
                bound: "below \(Table.number(Self.memoryLimit, 0))",
                isKept: peakMemory > 0 && peakMemory < Self.memoryLimit),
            Bar(
                name: "most disk of the data folder, MiB", figure: Table.number(mostDisk, 0),
                bound: "at most \(Table.number(quota, 0))", isKept: mostDisk > 0 && mostDisk <= quota),
        ]
        for (what, seconds) in [
            ("memory", memoryBack), ("connections", descriptorsBack), ("processor", processorBack),
        ] {
            bars.append(
                Bar(
                    name: "\(what) back after, s", figure: seconds.map { Table.number($0, 0) } ?? "never",
                    bound: "at most \(Table.number(Self.timeToComeBack, 0))", isKept: seconds != nil))
        }
        bars.append(
            Bar(
                name: "the server",
                figure: hasCrashed ? "crashed" : hasStopped ? "stopped in order" : "had to be killed",
                bound: "stopped in order", isKept: !hasCrashed && hasStopped))
        bars.append(
            Bar(
                name: "attacks that reached the server", figure: missing.isEmpty ? "all" : "not: \(missing)",
                bound: "all",
                isKept: missing.isEmpty))
        return bars
    }
}
