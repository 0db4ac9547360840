import ByteClubCore
import TestSupport

/// The report on sieges, for people and for programs.
struct SiegeReport {
    let plan: SiegePlan
    let outcomes: [SiegeOutcome]

    /// Tables in Markdown.
    var text: String {
        let tables = [bars, figures] + outcomes.flatMap { [errands($0), attacks($0)] }
        return tables.map(\.text).joined(separator: "\n")
    }

    private var bars: Table {
        let title =
            "\(Table.number(plan.seconds / 60, 1)) minutes, seed \(plan.seed): \(plan.members) members"
            + ", attackers at \(plan.percent) %, paced so that they leave the processors to the server"
        var table = Table(title: title, header: ["bar", "right"] + outcomes.map(\.name))
        for (index, bar) in (outcomes.first?.bars ?? []).enumerated() {
            table.rows.append(
                [bar.name, bar.bound]
                    + outcomes.map { $0.bars[index].figure + ($0.bars[index].isKept ? "" : " **missed**") })
        }
        return table
    }

    private var figures: Table {
        var table = Table(title: "Figures", header: ["figure", "when"] + outcomes.map(\.name))
        func add(_ figure: String, _ when: String, _ value: (SiegeOutcome) -> String) {
            table.rows.append([figure, when] + outcomes.map(value))
        }
        let phases: [(String, KeyPath<SiegeOutcome, Range<Double>>)] = [
            ("quiet", \.quiet), ("siege", \.siege), ("after", \.after),
        ]
        for (when, span) in phases {
            add("honest requests", when) { "\($0.service($0[keyPath: span]).count)" }
            add("p50 / p99 / worst, ms", when) { outcome in
                let service = outcome.service(outcome[keyPath: span])
                return [service.p50, service.p99, service.worst].map { Table.number($0, 1) }.joined(separator: " / ")
            }
            add("server: % of a core", when) { Table.number($0.samples.during($0[keyPath: span]).load * 100, 0) }
            add("server: most MiB", when) {
                Table.number($0.samples.during($0[keyPath: span]).map(\.memory).max() ?? .nan, 0)
            }
            add("server: most open files", when) {
                "\($0.samples.during($0[keyPath: span]).map(\.descriptors).max() ?? 0)"
            }
            add("data folder: most MiB", when) {
                Table.number($0.samples.during($0[keyPath: span]).map(\.disk).max() ?? .nan, 0)
            }
        }
        add("attackers: most connections", "siege") { "\($0.attacks.most)" }
        add("attackers: % of a core", "siege") {
            Table.number($0.attacks.processor / ($0.siege.upperBound - $0.siege.lowerBound) * 100, 0)
        }
        return table
    }

    private func errands(_ outcome: SiegeOutcome) -> Table {
        var table = Table(
            title: "Members: \(outcome.name)",
            header: [
                "errand", "quiet", "p50 ms", "p99 ms", "siege", "p50 ms", "p99 ms", "worst ms", "x p99", "refused",
            ])
        for errand in Errand.allCases {
            let (quiet, siege) = (outcome.service(outcome.quiet, errand), outcome.service(outcome.siege, errand))
            table.rows.append(
                [errand.rawValue, "\(quiet.count)"] + [quiet.p50, quiet.p99].map { Table.number($0, 1) }
                    + ["\(siege.count)"]
                    + [siege.p50, siege.p99, siege.worst, siege.p99 / quiet.p99].map { Table.number($0, 1) }
                    + [SiegeOutcome.Service(outcome.requests.filter { $0.errand == errand }).refusalText])
        }
        return table
    }

    private func attacks(_ outcome: SiegeOutcome) -> Table {
        var table = Table(
            title: "Attacks: \(outcome.name)",
            header: [
                "attack", "by", "opened", "most at once", "MiB sent", "served", "refused", "closed unanswered", "left",
            ])
        for (attack, tally) in outcome.attacks.tallies {
            table.rows.append(
                [attack.name, attack.attacker]
                    + [tally.opened, tally.most, tally.sent >> 20, tally.served].map { "\($0)" }
                    + [tally.refusals] + [tally.dropped, tally.abandoned].map { "\($0)" })
        }
        return table
    }

    /// One object on one line.
    var json: String {
        var json = JSONText()
        json.object { json in
            json.key("seconds")
            json.value(plan.seconds)
            json.key("seed")
            json.value(Int64(clamping: plan.seed))
            json.key("outcomes")
            json.array { json in
                for outcome in outcomes { write(outcome, to: &json) }
            }
        }
        return String(decoding: json.bytes, as: UTF8.self)
    }

    private func write(_ outcome: SiegeOutcome, to json: inout JSONText) {
        json.object { json in
            json.member("name", outcome.name)
            json.key("bars")
            json.array { json in
                for bar in outcome.bars {
                    json.object { json in
                        json.member("name", bar.name)
                        json.member("figure", bar.figure)
                        json.member("right", bar.bound)
                        json.key("kept")
                        json.value(bar.isKept)
                    }
                }
            }
            let spans: [(String, Range<Double>)] = [
                ("quiet", outcome.quiet), ("siege", outcome.siege), ("after", outcome.after),
            ]
            for (name, span) in spans {
                let service = outcome.service(span)
                let samples = outcome.samples.during(span)
                json.key(named: name)
                json.object { json in
                    json.member("requests", Int64(service.count))
                    json.member("refused", Int64(service.refused))
                    for (key, value) in [
                        ("p50_ms", service.p50), ("p99_ms", service.p99), ("worst_ms", service.worst),
                        ("cores", samples.load), ("memory_mib", samples.map(\.memory).max() ?? .nan),
                        ("disk_mib", samples.map(\.disk).max() ?? .nan),
                        ("open_files", Double(samples.map(\.descriptors).max() ?? 0)),
                    ] where value.isFinite {
                        json.key(named: key)
                        json.value(value)
                    }
                }
            }
            json.key("attacks")
            json.array { json in
                for (attack, tally) in outcome.attacks.tallies {
                    json.object { json in
                        json.member("name", attack.name)
                        json.member("by", attack.attacker)
                        json.member("opened", Int64(tally.opened))
                        json.member("served", Int64(tally.served))
                        json.member("refused", tally.refusals)
                        json.member("closed", Int64(tally.dropped))
                        json.member("left", Int64(tally.abandoned))
                        json.key("reached")
                        json.value(tally.hasReached)
                    }
                }
            }
        }
    }
}
