import ByteClubHTTP
import ByteClubRemotes
import Glibc

/// A sign-in that yields a token: by a browser on this machine, or by a code from a browser on any machine.
struct SignIn {
    /// Seconds to wait for a browser on this machine.
    private static let patience = 600

    let context: Context
    let server: ServerAddress
    let trust: Settings
    /// An invitation link, which the user must accept first.
    let invitation: String?

    /// Checks for a club's server before the user enters anything.
    ///
    /// - Throws: A ``Failure`` with the problem and advice.
    func look() async throws {
        var settings = trust
        settings.token = "nobody"
        let probe: ServerProbe
        do {
            let login = try Login(settings: settings, credentials: nil)
            probe = try await context.waiting(for: server) { try await context.connector.probe(login) }
        } catch let error as TransferError {
            var failure = Failure(error)
            if error.code == .tls, let advice = error.code.advice { failure.message += "; " + advice }
            throw failure
        }
        if [404, 405].contains(probe.status) || (200..<400).contains(probe.status) {
            throw Failure(.protocolViolation, "'\(server)' is not a club's server; check the address")
        }
    }

    /// Opens the page in a browser and waits for its redirect; nil when no browser starts.
    func through(_ browser: Browser) async throws -> String? {
        let listener = try RedirectListener()
        let request = try request(redirect: listener.url)
        try warnOfCertificate()
        let page = invitation.map { ClubPage.invitation($0, then: request.url) } ?? request.url
        guard browser.open(page) else { return nil }
        let first =
            invitation == nil
            ? "Opening a page in your browser. If it does not open, open it on this machine:"
            : "Opening your invitation in your browser: join there and allow this machine. If it does not, open it "
                + "on this machine:"
        try context.diagnostics.write(
            """
            \(first)
              \(page)
            Waiting for you there (Ctrl-C cancels; use --no-browser for a browser on another machine)

            """)
        // A new member is redirected to the gallery.
        let gallery = invitation == nil ? nil : ClubPage.gallery(at: server.origin)
        let values = try await BlockingWork.run {
            listener.wait(state: request.state, seconds: Self.patience, then: gallery)
        }
        guard let values else { throw Failure(.tryAgain, "timed out waiting for the page; run 'byteclub login' again") }
        guard let code = values["code"] else {
            throw Failure(
                .notAuthorised, "access was refused: \(Failure.line(values["error_description"] ?? "no reason given"))")
        }
        return try await context.connector.token(request, code, trust)
    }

    /// Reads a code from a browser on any machine; a token from the club's owner is accepted as well.
    func byCode() async throws -> String {
        let request = try request(redirect: nil)
        try showInvitation(then: request.url)
        try context.diagnostics.write(
            """
            Open this page in a browser, sign in, and copy the code that it shows:
              \(request.url)

            """)
        let text = try Token.check(context.input.readSecret("Code or token: "), "the code")
        return text.utf8.count == Self.codeLength ? try await context.connector.token(request, text, trust) : text
    }

    /// Shows the invitation page, which redirects to `page` after the user has joined.
    func showInvitation(then page: String) throws {
        if let invitation {
            let link = ClubPage.invitation(invitation, then: page)
            try context.diagnostics.write("Open your invitation in a browser on any machine and join:\n  \(link)\n")
        }
        try warnOfCertificate()
    }

    /// Explains the browser's warning about a server that is recognised by its key.
    private func warnOfCertificate() throws {
        guard trust.pin != nil else { return }
        try context.diagnostics.write(
            "The browser will warn about the server's self-signed certificate. This program has verified its key, "
                + "but cannot verify what the browser gets: continue only if you trust the network.\n"
        )
    }

    /// Codes have 32 digits, tokens 64.
    private static let codeLength = 32

    private func request(redirect: String?) throws -> SignInRequest {
        try SignInRequest(
            origin: server.origin, redirect: redirect, device: Self.hostName(),
            allowsInsecureHTTP: trust.allowsInsecureHTTP ?? false)
    }

    /// The name of this machine.
    static func hostName() -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&buffer, buffer.count - 1) == 0 else { return "" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
