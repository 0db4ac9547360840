import HTTPTypes

@testable import ByteClubHTTP

extension Worker {
    /// Reads a body as it comes, fast, slowly, or not to its end.
    mutating func readStream() async {
        let file = anyFile
        let request = request(.get, guarded("/file/\(file)"))
        let options = options()
        let limit = random.one(in: 3) ? Int.random(in: 0...100_000, using: &random) : Int.max
        let pause = random.one(in: 4) ? Int.random(in: 1...20, using: &random) : 0
        let (world, session) = (world, session)
        let end = await world.watch.expect("bytes(for:) \(request.path ?? "")") { () -> String in
            do throws(TransferError) {
                let (bytes, response) = try await session.bytes(for: request, options: options)
                var all: [UInt8] = []
                for try await chunk in bytes {
                    all += chunk
                    if all.count > limit { return "left" }
                    if pause > 0 { try? await Task.sleep(for: .milliseconds(pause)) }
                }
                if response.status.code == 200, let problem = Contents.objection(to: all, file: file) {
                    world.ledger.violation("stream of file \(file): \(problem)")
                }
                return "\(response.status.code)"
            } catch {
                return "\(error.code)"
            }
        }
        world.ledger.outcome("stream", end)
    }
}
