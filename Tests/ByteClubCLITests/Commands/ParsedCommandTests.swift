import ArgumentParser
import Testing

@testable import ByteClubCLI

@Suite struct ParsedCommandTests {
    @Test("the short way through the parser finds the same commands and says the same about mistakes")
    func same() {
        let lines = [
            "", "--version", "--help", "help", "help notes", "notes", "notes --help", "notes list", "notes list --json",
            "notes list -h", "notes list nonsense extra", "notes show", "notes show a.md", "notes show --server x a.md",
            "notes show a.md --nonsense", "notes lst", "nts list", "notes list --limit x", "photos list --kind sphere",
            "photos list --kind triangle", "photos upload", "photos upload a.jpg b.jpg --quality 60",
            "photos upload a.jpg --quality 600", "photos download x -o -", "photos download x y -o -", "whoami",
            "whoami --json", "whoami extra", "login", "login https://club.example", "sync", "sync ~/club --dry-run",
            "sync deletes", "conflicts", "conflicts list", "transfers", "transfers list --once", "transfers pause",
            "transfers pause 1234", "transfers --once", "daemon --stop", "share x --list", "-- notes list",
            "notes -- list", "notes list -- --json", "status --json", "members add ann --data d", "serve --data d",
        ]
        for line in lines {
            let arguments = line.split(separator: " ").map(String.init)
            func told(_ parse: ([String]) throws -> any ParsableCommand) -> String {
                do { return String(reflecting: try parse(arguments)) } catch {
                    return RootCommand.fullMessage(for: error) + "\(RootCommand.exitCode(for: error))"
                }
            }
            #expect(told(RootCommand.parsed) == told { try RootCommand.parseAsRoot($0) }, "\(line)")
        }
    }
}
