import TestSupport

/// A browser made of curl: somebody joins by an invitation or signs in, types a code and decides.
struct ShortCodeBrowser {
    private static let script = #"""
        set -eu
        base=$1; code=$2; decision=$3; form=${4:-$base/login}; jar=$HOME/cookies
        # The browser's owner has let it go on in spite of the certificate.
        web() { curl -sSk -b "$jar" -c "$jar" "$@"; }
        csrf() { sed -n 's/.*name="csrf" value="\([0-9a-f]*\)".*/\1/p' | head -1; }
        token=$(web "$form" | csrf)
        web -o "$HOME/in" --data-urlencode "csrf=$token" -d name=cleo -d 'password=long enough' "$form"
        token=$(web "$base/device?code=$code" | csrf)
        web -o "$HOME/asked" --data-urlencode "csrf=$token" -d "code=$code" "$base/device"
        token=$(csrf <"$HOME/asked")
        web -o "$HOME/done" --data-urlencode "csrf=$token" -d "code=$code" -d "decision=$decision" "$base/device"
        """#

    /// Where the person sits.
    let machine: MemberMachine

    /// What the page showed that asks.
    var asked: String { String(decoding: Fixture.bytes(at: machine.home + "/asked"), as: UTF8.self) }

    /// Decides about the code that a program shows.
    ///
    /// - Parameters:
    ///   - login: The program.
    ///   - decision: `allow` or `refuse`.
    ///   - invitation: Where the person joins, as `cleo`; nil for who signs in as `cleo`.
    /// - Returns: The page that the program showed; nil when it showed none.
    /// - Throws: When the browser cannot be run.
    func decide(_ login: SpawnedProcess, _ decision: String, invitation: String? = nil) async throws -> String? {
        let words = { (line: String?) in line?.split(separator: " ").last.map(String.init) }
        guard let page = words(await login.line(of: .errors) { $0.hasPrefix("Open this page") }),
            let code = words(await login.line(of: .errors) { $0.hasPrefix("Type this code") })
        else { return nil }
        let base = String(page.dropLast("/device".count))
        let result = try await Program.run(
            "/bin/sh", ["-c", Self.script, "browser", base, code, decision, invitation ?? ""],
            environment: machine.environment)
        return result.status == 0 ? page : nil
    }
}
