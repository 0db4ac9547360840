/// What a soak of some minutes must have met, so that its silence means something.
enum Coverage {
    private static let faults = [
        "bus hangsUp", "bus lies", "bus refuses", "door asked anew: stale nonce", "door asked", "door opened by basic",
        "door opened by digest", "proxy asked", "proxy opened by basic", "proxy opened by digest", "tunnel opened",
    ]
    private static let outcomes = [
        "conditions: cut off", "conditions: refused", "continued: anew", "continued: kept a part", "cookies: of a site",
        "held: 200", "held: by the battery", "held: by the network", "held: cancelled", "held: networkNotAllowed",
        "knock: 200", "listed: 200", "marked: 200", "neighbour: 200", "never resumed: cancelled", "pieces: whole",
        "question: answered for a server", "question: answered for the proxy", "question: asked again",
        "question: not answered", "question: space rejected", "question: task cancelled", "shared: 200",
        "waiting: before the first attempt", "waiting: reported", "without a route, waiting: cancelled",
    ]

    /// With a TLS server.
    private static let trust = [
        "left: cancelled", "tls: 200", "trust: accepted", "trust: answered too late", "trust: asked",
        "trust: asked about a pinned key", "trust: changed its mind", "trust: refused",
    ]

    static func judge(_ world: World) {
        let (seen, ends) = (world.ledger.faults, world.ledger.outcomes)
        let wanted = world.tls == nil ? outcomes : outcomes + trust
        let missing = faults.filter { seen[$0] == nil } + wanted.filter { ends[$0] == nil }
        if !missing.isEmpty { world.ledger.violation("never met: \(missing.joined(separator: ", "))") }
        if !World.knowsSuffixes { say("(no public suffixes: they need the package publicsuffix)") }
        if seen["traffic class seen"] == nil { say("(the kernel does not show traffic classes)") }
    }
}
