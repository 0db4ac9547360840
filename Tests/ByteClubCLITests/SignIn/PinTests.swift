import ByteClubHTTP
import TestSupport
import Testing

@testable import ByteClubCLI

@Suite("The key of a server")
struct PinTests {
    private static let other = "sha256//" + String(repeating: "A", count: 43) + "="

    private func bare(_ world: World) -> Context {
        var context = world.context(input: "the-token\n")
        context.environment = ["HOME": world.home.path]
        return context
    }

    private func pins(_ world: World) -> Set<PublicKeyPin>? { world.connections.last?.login.pinnedKeys }

    @Test("a link's key is stored with the login, and all commands trust it alone")
    func link() async throws {
        let world = try World()
        let context = bare(world)
        let pin = try #require(PublicKeyPin(Self.other))
        let link = "https://club.example:8443/invite/8c36#sha256=" + String(repeating: "A", count: 43)
        #expect(await world.run("login", link, "--token-stdin", in: context) == .success, "\(world.err)")
        #expect(world.out.hasPrefix("signed in to https://club.example:8443 as "))
        #expect(pins(world) == [pin])
        #expect(await world.run("notes", "list", in: context) == .success)
        #expect(pins(world) == [pin])
        // Signing in again to the same server needs no link; another server has another key.
        #expect(await world.run("login", "https://club.example:8443", "--token-stdin", in: context) == .success)
        #expect(pins(world) == [pin])
        #expect(await world.run("login", "https://other.example", "--token-stdin", in: context) == .success)
        #expect(pins(world) == [])
    }

    @Test("an option beats what is stored, and an authority's file takes its place")
    func option() async throws {
        let world = try World()
        let context = bare(world)
        #expect(
            await world.run("login", "https://a.example", "--pin", Self.other, "--token-stdin", in: context) == .success
        )
        #expect(pins(world) == [try #require(PublicKeyPin(Self.other))])
        let file = world.home.path + "/ca.pem"
        try LocalFile.replace(file, with: [])
        #expect(await world.run("whoami", "--ca-file", file, in: context) == .success)
        #expect(pins(world) == [] && world.connections.last?.login.certificateAuthorityFile == file)
        let third = "sha256//" + String(repeating: "B", count: 42) + "A="
        #expect(await world.run("whoami", "--pin", third, in: context) == .success)
        #expect(pins(world) == [try #require(PublicKeyPin(third))])
    }

    @Test("what is no key is one line, and nothing is connected to")
    func malformed() async throws {
        let world = try World()
        let context = bare(world)
        for (words, status): ([String], ByteClubCLI.ExitStatus) in [
            (["https://a.example/invite/8c36#sha256=AAAA"], .usage), (["https://a.example#top"], .usage),
            (["https://a.example", "--pin", "abc"], .configuration),
            (["http://127.0.0.1:9", "--pin", Self.other], .configuration),
        ] {
            let result = await ByteClub.run(["login"] + words + ["--token-stdin"], in: context)
            #expect(result == status, "\(words)")
        }
        #expect(world.connections.isEmpty && world.err.split(separator: "\n").count == 4, "\(world.err)")
        #expect(!LocalFile.exists(context.directories.credentialsFile))
    }

    @Test("a pin is read in both spellings of Base64, and nothing else is one")
    func spellings() throws {
        let pin = try #require(PublicKeyPin("sha256//" + String(repeating: "+/", count: 21) + "A="))
        #expect(pin == PublicKeyPin("sha256=" + String(repeating: "-_", count: 21) + "A"))
        #expect(pin.description.hasSuffix("A=") && pin.description.hasPrefix("sha256//+/"))
        for text in [
            "", "sha256//", "sha1//" + String(repeating: "A", count: 43), Self.other + "=",
            "sha256//é" + Self.other.dropFirst(9),
        ] {
            #expect(PublicKeyPin(text) == nil, "\(text)")
        }
        #expect(PublicKeyPin("sha256=" + String(repeating: "A", count: 42) + "B") == nil, "bits that no hash has")
    }
}
