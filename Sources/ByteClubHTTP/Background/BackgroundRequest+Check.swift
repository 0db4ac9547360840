import HTTPTypes

extension BackgroundRequest {
    /// The most bytes that a ``Work/custom(kind:payload:)``'s payload, and the whole of a request, may have.
    static let mostBytes = 1 << 20

    /// Finds out whether the work can be recorded and done; that its files are there is found out when it is done.
    ///
    /// - Throws: ``TransferError/Code/badRequest`` with what is wrong and what to do.
    func check() throws(TransferError) {
        switch work {
        case .download(let request, let path):
            guard request.method == .get else {
                throw Self.bad("a background download is a GET, not \(request.method)")
            }
            try Self.checkPath(path, "the file to download to")
            guard path.utf8.last != UInt8(ascii: "/") else {
                throw Self.bad("the file to download to is '\(path)', which is a folder")
            }
            try check(request, body: .none)
        case .upload(let request, let file):
            try Self.checkPath(file, "the file to send")
            try check(request, body: .file(path: file))
        case .custom(let kind, let payload):
            guard !kind.isEmpty, kind.utf8.count <= 100, Self.isPlain(kind) else {
                throw Self.bad("the work's kind is 1 to 100 bytes without control characters")
            }
            guard payload.count <= Self.mostBytes else {
                throw Self.bad("the work's payload has \(payload.count) bytes; \(Self.mostBytes) are allowed")
            }
        }
        try checkOptions()
        // The payload has the same limit, so it is not counted twice.
        var bare = self
        if case .custom(let kind, _) = work { bare.work = .custom(kind: kind, payload: []) }
        let count = bare.encoded.count
        guard count <= Self.mostBytes else {
            throw Self.bad("the request has \(count) bytes; \(Self.mostBytes) are allowed")
        }
    }

    /// Finds out whether a session may be called so.
    static func check(identifier: String) throws(TransferError) {
        guard (1...200).contains(identifier.utf8.count), isPlain(identifier) else {
            throw TransferError(
                .badConfiguration, "a background session's identifier is 1 to 200 bytes without control characters")
        }
    }

    private func check(_ request: HTTPRequest, body: Body) throws(TransferError) {
        if let authority = request.authority, authority.utf8.contains(UInt8(ascii: "@")) {
            throw Self.bad("the address names a user; name a credential in the options instead")
        }
        var taskOptions = TaskOptions()
        taskOptions.idempotencyKey = options.idempotencyKey
        let head = try RequestHead(request, body: body, options: taskOptions, additional: [:])
        for field in request.headerFields where Self.isSecret(field.name, options.publicFields) {
            throw TransferError(
                .badRequest,
                "the field \(field.name) may hold a secret, which is never recorded; name a credential in the options, "
                    + "or the field in publicFields where it holds none", url: head.url.redacted)
        }
    }

    /// Some fields are secret by their nature, whatever is said of them.
    private static func isSecret(_ name: HTTPField.Name, _ publicFields: Set<HTTPField.Name>) -> Bool {
        if [.authorization, .cookie, .proxyAuthorization].contains(name) { return true }
        return !RequestHead.isPublic(name, publicFields) && !RequestHead.ours.contains(name.canonicalName)
    }

    private func checkOptions() throws(TransferError) {
        if let file = options.certificateAuthorityFile { try Self.checkPath(file, "the file of authorities") }
        for (name, text) in [("label", options.label), ("credential", options.credential ?? "-")] {
            guard text.utf8.count <= 1000, Self.isPlain(text) else {
                throw Self.bad("the \(name) has at most 1000 bytes, and no control characters")
            }
        }
        guard options.credential != "" else { throw Self.bad("the credential has no name") }
        guard options.timeoutForResource > 0 else { throw Self.bad("the time for the whole task is 1 s at least") }
        guard options.rateLimit ?? 1 > 0 else { throw Self.bad("the rate limit is 1 byte per second at least") }
    }

    private static func checkPath(_ path: String, _ what: String) throws(TransferError) {
        guard path.hasPrefix("/"), path.utf8.count < 4096, !path.utf8.contains(0) else {
            throw bad("\(what) is named by an absolute path of at most 4095 bytes without NUL")
        }
    }

    private static func isPlain(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }

    private static func bad(_ message: String) -> TransferError { TransferError(.badRequest, message) }
}
