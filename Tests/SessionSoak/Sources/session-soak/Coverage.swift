/// What a soak of some minutes must have met, so that its silence means something.
enum Coverage {
    private static let faults = [
        "bus hangsUp", "bus lies", "bus refuses", "door asked", "door asked anew: stale nonce", "door opened by basic",
        "door opened by digest", "proxy asked",
        "proxy opened by basic", "proxy opened by digest", "tunnel opened",
    ]
    private static let outcomes = [
        "conditions: cut off", "conditions: refused", "held: 200", "held: by the battery", "held: by the network",
        "held: cancelled", "held: networkNotAllowed", "waiting: before the first attempt",
        "continued: kept a part", "continued: anew", "cookies: of a site", "never resumed: cancelled", "pieces: whole",
        "question: answered for a server", "question: answered for the proxy", "question: asked again",
        "question: not answered", "question: space rejected", "question: task cancelled", "shared: 200", "listed: 200",
        "waiting: reported", "without a route, waiting: cancelled", "knock: 200", "neighbour: 200", "marked: 200",
    ]

    static func judge(_ world: World) {
        let (seen, ends) = (world.ledger.faults, world.ledger.outcomes)
        let missing = faults.filter { seen[$0] == nil } + outcomes.filter { ends[$0] == nil }
        if !missing.isEmpty { world.ledger.violation("never met: \(missing.joined(separator: ", "))") }
        if !World.knowsSuffixes { say("(no public suffixes: they need the package publicsuffix)") }
        if seen["traffic class seen"] == nil { say("(the kernel does not show traffic classes)") }
    }
}
