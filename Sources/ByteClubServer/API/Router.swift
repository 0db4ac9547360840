import HTTPTypes

/// Finds the endpoints that a URL names.
struct Router: Sendable {
    /// What a URL names.
    struct Match: Sendable {
        /// What answers there, each to methods of its own.
        let endpoints: [Endpoint]
        /// The components after the name.
        let tail: ArraySlice<String>

        /// The methods that are accepted.
        var methods: [HTTPRequest.Method] { endpoints.flatMap(\.methods) }

        /// What a log shows in place of the path; nil when the path holds no secret.
        var loggablePath: String? { endpoints.lazy.compactMap(\.loggablePath).first }

        /// What answers to a method; nil when nothing does.
        func endpoint(for method: HTTPRequest.Method) -> Endpoint? {
            endpoints.first { $0.methods.contains(method) }
        }
    }

    /// Finds every endpoint of the server.
    static let standard = Router(Endpoint.all)

    private let endpoints: [String: [Endpoint]]
    /// The most components of a name: a URL may have thousands, which nobody needs to put together.
    private let longestName: Int

    /// Finds endpoints; those of one address take the same tails.
    init(_ all: [Endpoint]) {
        let addressed = all.flatMap { endpoint in endpoint.addresses.map { ($0, [endpoint]) } }
        endpoints = Dictionary(addressed) { $0 + $1 }
        longestName = addressed.map { $0.0.split(separator: "/").count }.max() ?? 0
    }

    /// What a URL's components name, by the longest name that fits; nil when it is nothing.
    func match(_ components: [String]) -> Match? {
        for count in (0...min(longestName, components.count)).reversed() {
            let tail = components[count...]
            if let found = endpoints[components[..<count].joined(separator: "/")], found[0].tail.accepts(tail.count) {
                return Match(endpoints: found, tail: tail)
            }
        }
        return nil
    }
}
