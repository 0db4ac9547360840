import Glibc
import Synchronization
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Signing in") struct SignInTests {
        /// A browser made of curl: it joins by an invitation or signs in, and allows what the page asks for.
        private static let browser = #"""
            #!/bin/sh
            set -eu
            url=$1; base=${url%%/1/*}; jar=$HOME/cookies
            web() { curl -sS -b "$jar" -c "$jar" "$@"; }
            csrf() { sed -n 's/.*name="csrf" value="\([0-9a-f]*\)".*/\1/p' | head -1; }
            token=$(web "$base$JOIN" | csrf)
            web -o "$HOME/joined" --data-urlencode "csrf=$token" -d name=Cleo -d 'password=long enough' "$base$JOIN"
            web "$url" >"$HOME/page"
            token=$(csrf <"$HOME/page")
            back=$(web -o /dev/null -w '%{redirect_url}' --data-urlencode "csrf=$token" -d decision=allow "$url")
            curl -sS "$back" >"$HOME/end"
            """#

        @Test("another program of the machine that trickles a request does not hold up the sign-in")
        func trickle() async throws {
            let club = try await Club.start()
            let cleo = club.machine("cleo")
            let script = cleo.home + "/browser"
            try LocalFiles.write("echo \"$1\" >\"$HOME/url.new\"; mv \"$HOME/url.new\" \"$HOME/url\"\n", to: script)
            let login = try cleo.start(["login", club.server.url], environment: ["BROWSER": "sh \(script)"])
            try await eventually("the browser starts") { LocalFiles.exists(cleo.home + "/url") || login.hasEnded }
            let url = String(decoding: Fixture.bytes(at: cleo.home + "/url"), as: UTF8.self)
            let port = try #require(try /127\.0\.0\.1%3A([0-9]+)/.firstMatch(in: url)?.1)
            let state = try #require(try /state=([^&\s]+)/.firstMatch(in: url)?.1)
            let back = try #require(UInt16(port))
            let hasBegun = Mutex(false)
            BackgroundThread.start {
                guard let slow = RawConnection(port: back) else { return }
                // Until it is sent away, or the program has ended.
                while slow.send([UInt8(ascii: "G")]), !slow.hasInput(within: 50) { hasBegun.withLock { $0 = true } }
            }
            try await eventually("a request trickles") { hasBegun.withLock(\.self) }
            let request = Array("GET /?state=\(state)&error=access_denied HTTP/1.1\r\n\r\n".utf8)
            let answer = await BackgroundThread.run { () -> [UInt8] in
                guard let browser = RawConnection(port: back, timeout: 120) else { return [] }
                browser.send(request)
                return browser.receiveAll()
            }
            #expect(answer.starts(with: Array("HTTP/1.1 200".utf8)))
            let result = await login.result()
            #expect(result.status == 77, "\(result)")
        }

        @Test("a machine without a browser is let in by a short code, or refused, and shows two lines for it")
        func shortCode() async throws {
            let club = try await Club.start()
            _ = try await club.server.addMember("cleo")
            try await club.server.setPassword("long enough", of: "cleo")
            let cleo = club.machine("cleo")
            let browser = ShortCodeBrowser(machine: cleo)
            for (decision, status) in [("refuse", Int32(77)), ("allow", 0)] {
                let login = try cleo.start(["login", club.server.url, "--no-browser"])
                let page = try await browser.decide(login, decision)
                #expect(page == club.server.url + "/device")
                let result = await login.result()
                #expect(result.status == status, "\(result)")
                #expect(result.errorLines.count == (status == 0 ? 2 : 3), "\(result)")
                #expect(browser.asked.contains("ByteClub") && browser.asked.contains("127.0.0.1"))
            }
            #expect(try await cleo.byteclub("whoami").text.contains("cleo"))
        }

        @Test("a server that starts again meanwhile is asked for a new code")
        func restartedServer() async throws {
            let club = try await Club.start()
            _ = try await club.server.addMember("cleo")
            try await club.server.setPassword("long enough", of: "cleo")
            let cleo = club.machine("cleo")
            let login = try cleo.start(["login", club.server.url, "--no-browser"], timeout: .seconds(200))
            let first = try #require(await login.line(of: .errors) { $0.hasPrefix("Type this code") })
            await club.server.kill9()
            try await club.server.start()
            let second = await login.line(of: .errors) { $0.hasPrefix("Type this code") && $0 != first }
            #expect(second != nil && login.errorsSoFar.contains("forgotten"))
            login.send(SIGINT)
            let result = await login.result()
            #expect(result.status == 130 && result.errorLines.last == "byteclub: cancelled", "\(result)")
        }

        @Test(
            "somebody who was invited joins in a browser, lets this machine in, lists notes, and is shut out by revoking it"
        )
        func invitation() async throws {
            let club = try await Club.start()
            let invited = try await Program.run("byteclub", ["members", "invite", "--data", club.server.data])
            let link = try #require(invited.lines.first)
            #expect(link.hasPrefix(club.server.url + "/invite/"))
            let cleo = MemberMachine("cleo", in: club.folder.path)
            let script = cleo.home + "/browser"
            try LocalFiles.write(Array(Self.browser.utf8), to: script)
            let login = try await cleo.byteclub(
                "login", club.server.url,
                environment: ["BROWSER": "sh \(script)", "JOIN": String(link.dropFirst(club.server.url.utf8.count))])
            try #require(login.status == 0, "\(login)")
            #expect(login.lines.first?.hasSuffix("as Cleo") == true)
            #expect(try await cleo.byteclub("notes", "add", "a.md", input: [65]).status == 0)
            let role = try await Program.run(
                "byteclub", ["members", "role", "Cleo", "viewer", "--data", club.server.data])
            #expect(role.status == 0)
            try await Task.sleep(for: .milliseconds(1100))
            #expect(try await cleo.byteclub("notes", "list").status == 0)
            let refused = try await cleo.byteclub("notes", "add", "b.md", input: [66])
            #expect(refused.status == 77 && refused.errorText.contains("viewer"), "\(refused)")
            let password = try await Program.run(
                "byteclub", ["members", "password", "cleo", "--data", club.server.data],
                input: Array("another one\n".utf8))
            #expect(password.status == 0)
            #expect(
                try await Program.run("byteclub", ["members", "remove", "Cleo", "--data", club.server.data]).status == 0
            )
            try await Task.sleep(for: .milliseconds(1100))
            #expect(try await cleo.byteclub("notes", "list").status == 77)
        }
    }
}
