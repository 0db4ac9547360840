import ByteClubCore
import TestSupport

/// The attacks of a siege, each of a size that bites and at a pace that leaves the processors to the server.
struct SiegeAttacks {
    let club: SiegeClub
    let plan: SiegePlan
    /// A browser's cookie and the matching token of the form.
    let form: SignInForm

    /// All of them.
    var all: [Attack] { strangers + viewers + editors }

    private func few(_ count: Int) -> Int { max(1, count * plan.percent / 100) }

    // MARK: Strangers

    private var strangers: [Attack] {
        let style = RawRequest.get("/assets/style.css", token: nil)
        let page = RawRequest.get(club.sharedFolder, token: nil)
        let pipeline = Array(repeatElement(RawRequest.get("/login", token: nil), count: 2_000).joined())
        let forms = [64 << 10, 1 << 20].map { size in
            let head = RawRequest.send("POST", "/login", token: nil, body: [], type: RawRequest.formType)
            let text = String(decoding: head, as: UTF8.self)
                .replacing("Content-Length: 0", with: "Content-Length: \(size)")
            // The rest needs some minutes at 128 bytes a second.
            return Array(text.utf8) + [UInt8](repeating: UInt8(ascii: "a"), count: size - 30_000)
        }
        let bombs = club.bombs.map { RawRequest.get($0, token: nil) }
        return [
            Attack(
                name: "connections held", attacker: "stranger", fromOne: few(600), fromSixty: few(3_540), pace: 150
            ) { _ in style },
            Attack(
                name: "slow forms", attacker: "stranger", fromOne: few(60), fromSixty: few(180), pace: 20, trickle: 128
            ) { forms[$0 % 2] },
            Attack(
                name: "pipelines unread", attacker: "stranger", fromOne: few(20), fromSixty: few(60), pace: 8,
                reading: .nothing
            ) { _ in pipeline },
            Attack(
                name: "pages unread", attacker: "stranger", fromOne: few(10), fromSixty: few(30), pace: 4,
                reading: .drops(128)
            ) { _ in page },
            Attack(
                name: "bombs through a link", attacker: "stranger", fromOne: few(10), fromSixty: few(30), pace: 4,
                patience: 0.5
            ) { bombs[$0 / 2 % bombs.count] },
            Attack(
                name: "passwords, 60 at once", attacker: "stranger", fromSixty: few(60), pace: Double(few(10)),
                volley: few(60), patience: 30, request: guess),
        ]
    }

    /// Every second guess is for a name that is known, and that its member signs in with meanwhile.
    private func guess(_ number: Int) -> [UInt8] {
        let name = number % 2 == 0 ? club.members[0].name : "Nobody \(number)"
        return form.signIn(name, password: "guess \(number)", isLast: true)
    }

    // MARK: A viewer

    private var viewers: [Attack] {
        let token = club.viewer.token
        let words = (0..<12_000).map { "w\($0)" }.joined(separator: " ")
        // One that is far over any bound, and one of as many words as a person might ask for.
        let searches = [words.prefix(62_000), words.prefix(150)].map { query in
            RawRequest.send(
                "POST", "/1/search/auto", token: token,
                body: Array("query=\(query.replacing(" ", with: "+"))".utf8), type: RawRequest.formType)
        }
        let listings = [
            RawRequest.get("/1/metadata/auto/archive?file_limit=25000", token: token),
            RawRequest.send("POST", "/1/delta", token: token, body: [], type: RawRequest.formType),
            RawRequest.get("/1/sync/changes?limit=5000", token: token),
        ]
        let bombs = club.bombs.indices.map {
            RawRequest.get("/1/thumbnails/auto/traps/bomb-\($0).jpg?size=l", token: token)
        }
        return [
            Attack(
                name: "searches abandoned", attacker: "viewer", fromOne: few(10), fromSixty: few(30), pace: 4,
                patience: 0.3
            ) { searches[$0 / 2 % searches.count] },
            Attack(
                name: "listings unread", attacker: "viewer", fromOne: few(20), fromSixty: few(40), pace: 4,
                reading: .drops(128), patience: 20
            ) { listings[$0 / 2 % listings.count] },
            Attack(
                name: "thumbnails of bombs", attacker: "viewer", fromOne: few(5), fromSixty: few(15), pace: 1,
                patience: 0.5
            ) { bombs[$0 % bombs.count] },
        ]
    }

    // MARK: An editor

    private var editors: [Attack] {
        let token = club.editor.token
        let piece = noise(1 << 20, seed: 12)
        let base = noise(4 << 20, seed: 13)
        let chunk = club.chunk
        let upload = RawRequest.send("PUT", "/1/chunked_upload", token: token, body: piece)
        let stalled = Array(upload.dropLast(piece.count / 2))
        return [
            Attack(
                name: "one chunk many times", attacker: "editor", fromOne: few(4), fromSixty: few(8), pace: 0.5,
                patience: 0
            ) { number in
                // The rest of the member's quota in one batch, a few times that in the next.
                Self.batch(of: chunk, times: [24, 128, 2_000][number % 3], number: number, token: token)
            },
            Attack(
                name: "uploads never committed", attacker: "editor", fromOne: few(10), fromSixty: few(20), pace: 3,
                total: few(1_000), patience: 5
            ) { _ in upload },
            Attack(
                name: "uploads that stall", attacker: "editor", fromOne: few(20), fromSixty: few(40), pace: 2,
                total: few(1_000), trickle: 128, patience: 30
            ) { _ in stalled },
            Attack(
                name: "chunks without a file", attacker: "editor", fromOne: few(4), fromSixty: few(8), pace: 1,
                total: few(300), patience: 5
            ) { number in
                var bytes = base
                bytes.replaceSubrange(0..<8, with: (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) })
                return RawRequest.send("PUT", "/1/sync/chunks/\(ContentHasher.hash(bytes))", token: token, body: bytes)
            },
        ]
    }

    /// A batch that makes one file of a chunk repeated.
    private static func batch(of chunk: ContentHash, times: Int, number: Int, token: String) -> [UInt8] {
        guard let id = OperationID("siege-batch-\(1_000_000 + number)") else { return [] }
        let content = SyncOperation.Content(
            bytes: Int64(times) * (4 << 20), chunks: [ContentHash](repeating: chunk, count: times))
        let operation = SyncOperation(id, .create(.init(.node(.root), "large \(number).bin"), content))
        var json = JSONText()
        SyncBatch([operation]).write(to: &json)
        return RawRequest.send(
            "POST", "/1/sync/batch", token: token, body: SyncFrame.join(json.bytes, []), type: SyncFrame.mime)
    }
}
