/// Where members reach a club's server: what the links that are sent to people begin with.
struct ClubAddress: Hashable, Sendable {
    /// The URL, without a slash at its end.
    let url: String

    /// Takes a URL; nil when it is none, or names every address of a machine (`0.0.0.0`, `[::]`) and so none to go to.
    init?(_ text: String) {
        guard let scheme = ["https://", "http://"].first(where: text.lowercased().hasPrefix) else { return nil }
        let authority = text.dropFirst(scheme.count).prefix { !"/?#".contains($0) }
        let host = authority.first == "[" ? authority.prefix { $0 != "]" } + "]" : authority.prefix { $0 != ":" }
        if host.isEmpty || IPAddress(String(host))?.isUnspecified == true { return nil }
        url = text.hasSuffix("/") ? String(text.dropLast()) : text
    }

    /// The link with which somebody joins.
    func invitation(_ secret: String) -> String { "\(url)/invite/\(secret)" }
}
