import Glibc
import Synchronization
import TestSupport

/// The requests of honest members.
enum Errand: String, CaseIterable, Sendable {
    case saveNote = "save a note"
    case changes = "ask for changes"
    case listing = "list a folder"
    case thumbnail = "look at a thumbnail"
    case photo = "look at a photo"
    case addPhoto = "add a photo"
    case signIn = "sign in on the page"
}

/// One errand of an honest member.
struct HonestRequest: Sendable {
    let errand: Errand
    /// Seconds since the start of the run at which it was due.
    let due: Double
    /// Milliseconds from then until the whole answer was there.
    let milliseconds: Double
    /// The status of the answer; 0 for none.
    let status: Int

    /// Whether the request was served.
    var isServed: Bool { (200..<300).contains(status) || status == (errand == .signIn ? 303 : 304) }
}

/// The state that all members share: the time of the run, the photos, and its end.
final class ClubDay: Sendable {
    private let start = ContinuousClock.now
    private let photos: Mutex<[String]>
    private let isClosed = Atomic(false)

    init(photos: [String]) { self.photos = Mutex(photos) }

    /// Seconds since the start.
    var now: Double { Stopwatch.seconds(since: start) }

    /// Whether members go home.
    var isOver: Bool { isClosed.load(ordering: .relaxed) }

    /// Sends members home.
    func end() { isClosed.store(true, ordering: .relaxed) }

    /// A photo is there for all to see.
    func add(_ photo: String) { photos.withLock { $0.append(photo) } }

    /// One of the last forty photos.
    func photo(using generator: inout SeededGenerator) -> String {
        photos.withLock { $0.suffix(40).randomElement(using: &generator) ?? "" }
    }
}

/// A member who makes a request twice a second, from an address of their own.
///
/// Its calls block.
final class HonestMember {
    /// Seconds between two errands.
    private static let pace = 0.5
    /// Requests on one connection, as phones come and go.
    private static let perConnection = 50
    /// Seconds between two sign-ins, the limit for one address.
    private static let betweenSignIns = 12.0
    /// The order of errands, over and over.
    private static let order: [Errand] = {
        var order = Array(
            repeatElement([Errand.saveNote, .thumbnail, .changes, .saveNote, .listing, .photo], count: 6)
        )
        .flatMap { $0 }
        order.insert(.addPhoto, at: 10)
        return order
    }()

    private let number: Int
    private let account: SiegeClub.Account
    private let port: UInt16
    private let day: ClubDay
    private var generator: SeededGenerator
    private var connection: HouseholdConnection?
    private var requests = 0
    private var revisions: [Int: String] = [:]
    private var cursor: String?
    private var added: String?
    private var adds = 0
    private var nextSignIn = 0.0
    private var form = SignInForm()

    init(_ number: Int, _ account: SiegeClub.Account, port: UInt16, day: ClubDay, seed: UInt64) {
        (self.number, self.account, self.port, self.day) = (number, account, port, day)
        generator = SeededGenerator(seed: seed &+ UInt64(number))
    }

    /// Saves a first note, then does errands until the day is over.
    func run() -> [HonestRequest] {
        _ = saveNote()
        var done: [HonestRequest] = []
        var due = day.now + Self.pace * Double(number % 16) / 16
        var step = number * 7
        while true {
            while day.now < due, !day.isOver { usleep(UInt32(min(0.1, max(0.001, due - day.now)) * 1e6)) }
            if day.isOver { return done }
            var errand = Self.order[step % Self.order.count]
            if account.password != nil, day.now >= nextSignIn {
                errand = .signIn
                nextSignIn = day.now + Self.betweenSignIns
            } else {
                step += 1
            }
            let status = perform(errand)
            let now = day.now
            done.append(HonestRequest(errand: errand, due: due, milliseconds: (now - due) * 1000, status: status))
            due += Self.pace
            // After a long wait the member continues from now, and skips the requests that were due in between.
            if now > due + 5 { due = now }
        }
    }

    private func perform(_ errand: Errand) -> Int {
        let token = account.token
        switch errand {
        case .saveNote: return saveNote()
        case .changes: return askForChanges()
        case .listing:
            return exchange(RawRequest.get("/1/metadata/auto/notes/\(number)", token: token))?.status ?? 0
        case .thumbnail:
            let photo = added ?? day.photo(using: &generator)
            added = nil
            return exchange(RawRequest.get("/1/thumbnails/auto\(photo)?size=l", token: token))?.status ?? 0
        case .photo:
            return exchange(RawRequest.get("/1/files/auto\(day.photo(using: &generator))", token: token))?.status ?? 0
        case .addPhoto: return addPhoto()
        case .signIn: return signIn()
        }
    }

    private func saveNote() -> Int {
        let note = Int.random(in: 0..<20, using: &generator)
        let text = String(repeating: "The ridge was clear at \(generator.next()). ", count: 36)
        let condition = revisions[note].map { "?parent_rev=\($0)" } ?? ""
        let target = "/1/files_put/auto/notes/\(number)/note-\(note).md\(condition)"
        guard let answer = exchange(RawRequest.send("PUT", target, token: account.token, body: Array(text.utf8))) else {
            // Whether it was stored is not known.
            revisions[note] = nil
            return 0
        }
        if answer.status == 200 { revisions[note] = JSONMember.text("rev", in: answer.body) }
        return answer.status
    }

    private func askForChanges() -> Int {
        let target = cursor == nil ? "/1/delta/latest_cursor" : "/1/delta"
        let body = Array((cursor.map { "cursor=\($0)" } ?? "").utf8)
        let request = RawRequest.send("POST", target, token: account.token, body: body, type: RawRequest.formType)
        guard let answer = exchange(request) else { return 0 }
        if answer.status == 200 { cursor = JSONMember.text("cursor", in: answer.body) ?? cursor }
        return answer.status
    }

    private func addPhoto() -> Int {
        let names = ["city", "forest", "courtyard", "sunrise", "studio", "interior", "sunset"]
        adds += 1
        let path = "/photos/\(number)-\(adds).jpg"
        let bytes = SiegePhoto.bytes(names[adds % names.count], "\(number) \(adds) \(generator.next())")
        let request = RawRequest.send("PUT", "/1/files_put/auto" + path, token: account.token, body: bytes)
        guard let answer = exchange(request) else { return 0 }
        if answer.status == 200 {
            day.add(path)
            added = path
        }
        return answer.status
    }

    private func signIn() -> Int {
        guard let page = exchange(form.page) else { return 0 }
        guard page.status == 200 else { return page.status }
        form.take(page)
        guard let answer = exchange(form.signIn(account.name, password: account.password ?? "")) else { return 0 }
        form.take(answer)
        return answer.status
    }

    private func exchange(_ request: [UInt8]) -> RawMessage? {
        if requests >= Self.perConnection { connection = nil }
        if connection == nil {
            requests = 0
            connection = HouseholdConnection(port: port, from: LoopbackAddress(1, UInt8(number)))
        }
        requests += 1
        let answer = connection?.exchange(request)
        if answer == nil || answer?["Connection"]?.lowercased() == "close" { connection = nil }
        return answer
    }
}
