import Glibc
import Synchronization
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Signing in") struct SignInTests {
        /// A browser made of curl: it fills in the form of an invitation, sends the form of the page that follows with the
        /// values in `ANSWER`, and does nothing else of its own.
        private static let browser = #"""
            #!/bin/sh
            set -eu
            url=$1; jar=$HOME/cookies
            web() { curl -sSL -b "$jar" -c "$jar" "$@"; }
            value() { sed -n 's/.*name="'$1'" value="\([^"]*\)".*/\1/p' "$2" | head -1 | sed 's/&amp;/\&/g'; }
            web -o "$HOME/form" "$url"
            web -o "$HOME/asked" -w '%{url_effective}' --data-urlencode "csrf=$(value csrf "$HOME/form")" \
                --data-urlencode "next=$(value next "$HOME/form")" -d name=Cleo -d 'password=long enough' \
                "${url%%\?*}" >"$HOME/page"
            web -o "$HOME/end" -w '%{url_effective}' --data-urlencode "csrf=$(value csrf "$HOME/asked")" \
                --data-urlencode "code=$(value code "$HOME/asked")" -d "$ANSWER" "$(cat "$HOME/page")" >"$HOME/last"
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
            #expect(second != nil, "\(login.errorsSoFar)")
            login.send(SIGINT)
            let result = await login.result()
            #expect(result.status == 130 && result.errorLines.last == "byteclub: cancelled", "\(result)")
        }

        @Test("who logs in by an invitation elsewhere joins there, and finds the code of the terminal filled in")
        func invitationElsewhere() async throws {
            let club = try await Club.start()
            let invited = try await Program.run("byteclub", ["members", "invite", "--data", club.server.data])
            let link = try #require(invited.lines.first)
            let cleo = MemberMachine("cleo", in: club.folder.path)
            let script = cleo.home + "/browser"
            try LocalFiles.write(Array(Self.browser.utf8), to: script)
            let login = try cleo.start(["login", link, "--no-browser"])
            let shown = try #require(await login.line(of: .errors) { $0.hasPrefix("  \(link)?next=") })
            let code = try #require(await login.line(of: .errors) { $0.hasPrefix("Type this code") })
            let result = try await Program.run(
                "/bin/sh", [script, String(shown.dropFirst(2))],
                environment: cleo.environment.merging(["ANSWER": "x=1"]) { $1 })
            #expect(result.status == 0, "\(result)")
            let asked = String(decoding: Fixture.bytes(at: cleo.home + "/asked"), as: UTF8.self)
            let text = try #require(code.split(separator: " ").last.map(String.init))
            #expect(asked.contains("value=\"\(text)\""), "\(asked)")
            let end = String(decoding: Fixture.bytes(at: cleo.home + "/end"), as: UTF8.self)
            #expect(end.contains("Allow <bdi>ByteClub</bdi>?") && end.contains(text), "\(end)")
            login.send(SIGINT)
            _ = await login.result()
        }

        @Test("a token is typed at the terminal, which does not show it, and Enter ends it")
        func typedToken() async throws {
            let club = try await Club.start()
            let token = try await club.server.addMember("cleo")
            let cleo = club.machine("cleo")
            let session = try cleo.startAtTerminal(["login", club.server.url, "--token-stdin"])
            try await eventually("it asks") { session.text.contains("Token: ") }
            session.type(Array((token + "\r").utf8))
            try await eventually("it ends") { session.status != nil }
            #expect(session.status == 0 && session.hasModesOfBefore, "\(session.text)")
            #expect(session.text.contains("as cleo") && !session.text.contains(token), "\(session.text)")
        }

        @Test("who came by a token sets a password at the terminal, and an owner's link sets it anew")
        func password() async throws {
            let club = try await Club.start()
            let cleo = try await club.member("cleo")
            let (current, new, again) = ("Current password: ", "New password: ", "Repeat new password: ")
            for answers in [
                [(new, "long enough"), (again, "long enough")],
                [(current, "long enough"), (new, "another one"), (again, "another one")],
            ] {
                let session = try cleo.startAtTerminal(["password"])
                for (prompt, answer) in answers {
                    try await eventually("it asks") { session.text.hasSuffix(prompt) || session.status != nil }
                    session.type(Array((answer + "\r").utf8))
                }
                try await eventually("it ends") { session.status != nil }
                #expect(session.status == 0 && session.hasModesOfBefore, "\(session.text)")
                #expect(!session.text.contains("long enough") && !session.text.contains("another one"))
            }
            let script = try await cleo.byteclub(
                "password", "--password-stdin", input: Array("wrong\nlong enough\n".utf8))
            #expect(script.status == 77 && script.errorLines.count == 1, "\(script)")
            let (url, port) = (club.server.url, club.server.port)
            let reset = try await Program.run("byteclub", ["members", "reset", "cleo", "--data", club.server.data])
            let link = try #require(reset.lines.first)
            #expect(reset.status == 0 && reset.lines.count == 1 && link.hasPrefix(url + "/reset/"), "\(reset)")
            let page = await RawExchange.send("GET \(link.dropFirst(url.utf8.count))", port: port)
            #expect(page?.status == 200 && page?.text.contains("New password for <bdi>cleo</bdi>") == true)
            let opened = try await cleo.byteclub("open")
            #expect(opened.text == url + "/gallery\n", "\(opened)")
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
                "login", link, environment: ["BROWSER": "sh \(script)", "ANSWER": "decision=allow"])
            try #require(login.status == 0, "\(login)")
            let asked = String(decoding: Fixture.bytes(at: cleo.home + "/asked"), as: UTF8.self)
            #expect(asked.contains("Allow <bdi>ByteClub</bdi>?"), "\(asked)")
            try await eventually("the gallery is shown") { LocalFiles.exists(cleo.home + "/last") }
            try await eventually("the browser has ended") {
                String(decoding: Fixture.bytes(at: cleo.home + "/last"), as: UTF8.self) == club.server.url + "/gallery"
            }
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
