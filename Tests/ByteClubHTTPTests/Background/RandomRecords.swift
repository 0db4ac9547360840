import HTTPTypes
import TestSupport

@testable import ByteClubHTTP

/// Random values that are recorded or sent, reproducible by their seed.
struct RandomRecords {
    var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func number(_ range: ClosedRange<Int64>) -> Int64 { .random(in: range, using: &random) }

    mutating func flag() -> Bool { .random(using: &random) }

    mutating func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: values.indices, using: &random)] }

    mutating func optional<Value>(_ make: (inout RandomRecords) -> Value) -> Value? { flag() ? make(&self) : nil }

    mutating func array<Value>(_ most: Int, _ make: (inout RandomRecords) -> Value) -> [Value] {
        (0..<Int.random(in: 0...most, using: &random)).map { _ in make(&self) }
    }

    mutating func text() -> String {
        pick(["", "a", "Zürich – 東京 🎏", "two\nlines", "nul\0nul", String(repeating: "x", count: 300), "/tmp/file"])
    }

    mutating func bytes() -> [UInt8] { array(40) { .random(in: 0 ... .max, using: &$0.random) } }

    mutating func time() -> Int64 { pick([0, 1, 1_800_000_000_000, .max, number(0...(1 << 45))]) }

    mutating func rate() -> Int? { optional { $0.pick([0, 1, 512_000, .max, -5]) } }

    mutating func id() -> BackgroundTask.ID { BackgroundTask.ID(number: random.next()) }

    mutating func priority() -> SessionTask.Priority { pick(SessionTask.Priority.allCases) }

    mutating func name() -> HTTPField.Name {
        pick([.accept, .contentType, .ifMatch, HTTPField.Name("X-One") ?? .accept])
    }

    mutating func pins() -> Set<PublicKeyPin> {
        Set(
            array(2) { $0.pick(["A", "B", "C"]) }.compactMap {
                PublicKeyPin("sha256//" + String(repeating: $0, count: 42) + "A=")
            })
    }

    mutating func fields() -> HTTPFields {
        HTTPFields(
            array(5) { HTTPField(name: $0.name(), value: $0.pick(["", "text/plain", "blick auf Zürich", "1"])) })
    }

    mutating func request() -> HTTPRequest {
        HTTPRequest(
            method: pick([.get, .put, .post, HTTPRequest.Method("QUERY") ?? .get]),
            scheme: optional { $0.pick(["http", "https"]) },
            authority: optional { $0.pick(["club.example", "127.0.0.1:80"]) },
            path: optional { $0.pick(["/", "/a?b=c", "*"]) }, headerFields: fields())
    }

    mutating func response() -> HTTPResponse {
        HTTPResponse(
            status: .init(code: Int(number(100...999)), reasonPhrase: pick(["", "OK", "Not Found"])),
            headerFields: fields())
    }

    mutating func options() -> BackgroundOptions {
        var options = BackgroundOptions()
        options.label = text()
        options.credential = optional { $0.text() }
        options.publicFields = Set(array(3) { $0.name() })
        options.priority = priority()
        options.rateLimit = rate()
        options.idempotencyKey = optional { $0.text() }
        options.earliestStart = optional { $0.pick([0, -1, .max, .min, 5]) }
        options.timeoutForResource = pick([0, -1, .max, .min, 604_800])
        options.certificateAuthorityFile = optional { $0.text() }
        options.pinnedKeys = pins()
        (options.allowsMetered, options.allowsConstrained, options.isDiscretionary) = (flag(), flag(), flag())
        return options
    }

    mutating func backgroundRequest() -> BackgroundRequest {
        let work: BackgroundRequest.Work =
            switch number(0...2) {
            case 0: .download(request(), to: text())
            case 1: .upload(request(), file: text())
            default: .custom(kind: text(), payload: bytes())
            }
        return BackgroundRequest(work, options: options())
    }

    mutating func failure() -> BackgroundFailure {
        BackgroundFailure(
            code: text(), message: text(), status: optional { Int($0.number(100...999)) }, isRetryable: flag(),
            retryAfter: optional { $0.pick([0, 7, .max, .min]) })
    }

    mutating func status() -> BackgroundStatus {
        var status = BackgroundStatus(id(), text(), backgroundRequest(), at: time())
        status.priority = priority()
        status.state = pick(BackgroundStatus.State.allCases)
        status.bytes = time()
        status.total = optional { $0.time() }
        status.bytesPerSecond = pick([0, 0.5, 1e12])
        status.attempt = Int(number(0...50))
        status.failuresInRow = Int(number(0...50))
        status.interruptions = Int(number(0...50))
        status.begun = time()
        status.changed = time()
        status.nextAttempt = optional { $0.time() }
        status.failure = optional { $0.failure() }
        status.result = optional {
            BackgroundResult(
                status: $0.optional { Int($0.number(100...999)) }, file: $0.optional { $0.text() }, bytes: $0.bytes())
        }
        status.sequence = pick([0, .max, random.next()])
        return status
    }

    /// A status with what is sent and not recorded.
    mutating func shownStatus() -> BackgroundStatus {
        var status = status()
        status.obstacle = optional { $0.pick(NetworkConditions.Obstacle.allCases) }
        return status
    }

    mutating func schedule() -> RateSchedule {
        RateSchedule(
            otherwise: rate(),
            spans: array(3) {
                .init(
                    days: Set($0.array(3) { Int($0.number(-1...7)) }), from: Int($0.number(-3...2000)),
                    to: Int($0.number(-3...2000)), rate: $0.rate())
            })
    }

    mutating func call() -> DaemonCall {
        switch number(0...10) {
        case 0: .hello(version: time())
        case 1:
            .attach(
                identifier: text(), relaunch: optional { BackgroundRelaunch(command: $0.array(3) { $0.text() }) })
        case 2: .submit(identifier: text(), array(3) { Submission(id: $0.id(), request: $0.backgroundRequest()) })
        case 3: .list
        case 4:
            .change(array(3) { $0.id() }, pick([.pause, .resume, .cancel, .forget, .prioritize(priority())]))
        case 5: .acknowledge(array(3) { TakenEnd(id: $0.id(), sequence: UInt64(bitPattern: $0.number(.min ... .max))) })
        case 6: .watch
        case 7: .schedule
        case 8: .setSchedule(schedule())
        case 9:
            .relay(
                RelayedRequest(
                    request: request(), timeoutForRequest: time(),
                    maximumResponseBytes: time(), certificateAuthorityFile: optional { $0.text() },
                    pinnedKeys: pins()))
        default: .stop
        }
    }

    mutating func answer() -> DaemonAnswer {
        switch number(0...6) {
        case 0: .hello(version: time(), process: 17)
        case 1: .done
        case 2: .tasks(array(3) { $0.status() })
        case 3: .schedule(schedule())
        case 4: .relayed(RelayedResponse(response: response(), bytes: bytes()))
        case 5: .firstTasks(array(3) { $0.status() })
        default: .refused(code: text(), message: text())
        }
    }

    mutating func frame() -> DaemonFrame {
        switch number(0...4) {
        case 0, 1: .call(number: random.next(), call())
        case 2: .event(pick([.status(shownStatus()), .gone(id()), .caughtUp]))
        default: .answer(number: random.next(), answer())
        }
    }
}
