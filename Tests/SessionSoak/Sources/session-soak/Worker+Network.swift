import Glibc
import HTTPTypes

@testable import ByteClubHTTP

extension Worker {
    /// Sends a request of some kind of traffic; the server looks at its packets.
    mutating func sendMarked() async {
        var options = options()
        let type = random.pick(ServiceType.allCases)
        options.serviceType = random.one(in: 3) ? nil : type
        options.cachePolicy = .reload
        let file = anyFile
        var request = request(.get, "/file/\(file)", random.one(in: 3) ? home.neighbour : nil)
        let wanted = options.serviceType ?? session.inbox.configuration.serviceType
        request.headerFields[.service] = "\(wanted.codePoint)"
        await perform("marked", session.dataTask(request, options: options), file: file)
    }

    /// Goes where there is no route to: waits for a network, or fails at once; ends by being cancelled.
    ///
    /// That the network comes back is not to be had without privileges.
    mutating func waitForNetwork() async {
        var options = options()
        options.retries = false
        options.cachePolicy = .reload
        if !random.one(in: 4) { options.waitsForConnectivity = true }
        let waits = options.waitsForConnectivity ?? session.inbox.configuration.waitsForConnectivity
        let request = request(random.pick([.get, .post, .put]), "/file/2", "\(World.unreachable):80")
        let task = session.uploadTask(request, from: random.one(in: 2) ? .none : .bytes([1, 2, 3]), options: options)
        let pause = random.one(in: 4) ? Int.random(in: 0...2_500, using: &random) : 0
        let seeded = random.split()
        let result = await world.watch.expect("a task without a route") {
            task.resume()
            try? await Task.sleep(for: .milliseconds(pause))
            await Self.disturb(task, isCancelled: true, seeded)
            return await outcome(of: task)
        }
        note(waits ? "without a route, waiting" : "without a route", result)
        guard case .failure(let error) = result else {
            return world.ledger.violation("where there is no route, a server answered: \(result)")
        }
        if waits, error.code == .cannotConnect {
            world.ledger.violation("a task that waits for a network failed: \(error)")
        }
    }
}

extension ChaosAnswer {
    /// Judges the mark of the connection's packets, if the request names its kind of traffic.
    func checkService() {
        guard let wanted = request["x-service"].flatMap({ Int($0) }) else { return }
        guard let found = trafficClass else { return server.ledger.fault("traffic class unknown") }
        server.ledger.fault("traffic class seen")
        if Int(found) != wanted << 2 {
            server.ledger.violation("packets of class \(wanted << 2) had \(found): \(request.target)")
        }
    }

    /// The traffic class of the packet that made the connection (ip(7), IP_RECVTOS and IP_PKTOPTIONS).
    private var trafficClass: UInt8? {
        var one: Int32 = 1
        // IP_RECVTOS, then IP_PKTOPTIONS: a control message of the level IPPROTO_IP and the type IP_TOS.
        guard setsockopt(peer.descriptor, Int32(IPPROTO_IP), 13, &one, 4) == 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: 256)
        var length = socklen_t(bytes.count)
        guard getsockopt(peer.descriptor, Int32(IPPROTO_IP), 9, &bytes, &length) == 0, length > 16 else { return nil }
        return bytes[8..<12].allSatisfy { $0 == 0 } && bytes[12] == 1 ? bytes[16] : nil
    }
}
