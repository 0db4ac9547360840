import ByteClubHTTP
import ByteClubRemotes
import Glibc

/// Gets a token for this machine: through a browser here, or by a code from a browser anywhere.
struct SignIn {
    /// How long a browser here may take, in seconds.
    private static let patience = 600

    let context: Context
    let server: ServerAddress
    let trust: Settings
    /// The link by which somebody joins first.
    let invitation: String?

    /// Looks whether a club's server is there, before a person is asked for anything.
    ///
    /// - Throws: A ``Failure`` that says what is wrong, and what to do.
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

    /// Shows the page in a browser of this machine, and waits for the answer; nil when the browser does not start.
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
        // Somebody new goes on to what there is to see.
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

    /// Has a code copied from a browser on any machine; a token that the owner made is taken as well.
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

    /// Shows where somebody joins first who was invited, and is sent to a page from there.
    func showInvitation(then page: String) throws {
        if let invitation {
            let link = ClubPage.invitation(invitation, then: page)
            try context.diagnostics.write("Open your invitation in a browser on any machine and join:\n  \(link)\n")
        }
        try warnOfCertificate()
    }

    /// Says what a browser makes of a server that is known by its key.
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

    /// What this machine is called.
    static func hostName() -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&buffer, buffer.count - 1) == 0 else { return "" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
