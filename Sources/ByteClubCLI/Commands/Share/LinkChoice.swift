import ByteClubCore

/// Which links somebody means by what they typed: a number, a link itself, or a path.
enum LinkChoice: Hashable, Sendable {
    /// The link of a number, or else those to a path that is spelt like one.
    case number(Int64, RemotePath?)
    /// The link with the same secret, whatever the server is called and whatever follows.
    case secret(Substring)
    /// All links that lead to a path.
    case path(RemotePath?)

    /// Reads what was typed; `path` is the path that it would be.
    init(_ text: String, path: RemotePath?) {
        if text.contains("://") {
            self = .secret(Self.secret(in: text) ?? "")
        } else if let number = Int64(text), number > 0 {
            self = .number(number, path)
        } else {
            self = .path(path)
        }
    }

    /// Those of some links that are meant.
    func chosen(from links: [PublicLink]) -> [PublicLink] {
        switch self {
        case .number(let number, let path):
            let named = links.filter { $0.id == number }
            return named.isEmpty ? links.filter { $0.path.key == path?.key } : named
        case .secret(let secret): return secret.isEmpty ? [] : links.filter { Self.secret(in: $0.url) == secret }
        case .path(let path): return links.filter { $0.path.key == path?.key }
        }
    }

    /// What names a link in its URL: `https://<host>/s/<secret>/<name>`, or `/1/view/<secret>/<name>`.
    private static func secret(in url: String) -> Substring? {
        let pieces = url.split(separator: "/").dropFirst(2).drop { $0 != "s" && $0 != "view" }
        return pieces.dropFirst().first?.prefix { $0 != "?" && $0 != "#" }
    }
}
