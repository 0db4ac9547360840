import HTTPTypes

extension BackgroundRequest {
    /// The limit of a ``Work/custom(kind:payload:)``'s payload, and of all other parts of a request together, in bytes.
    static let mostBytes = 1 << 20

    /// Checks whether the work can be recorded, without a look at its files.
    ///
    /// - Throws: ``TransferError/Code/badRequest`` with the problem and its remedy.
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
                throw Self.bad("the work's kind must be 1 to 100 bytes without control characters")
            }
            guard payload.count <= Self.mostBytes else {
                throw Self.bad("the work's payload has \(payload.count) bytes; \(Self.mostBytes) are allowed")
            }
        }
        try checkOptions()
        // The payload has its own limit.
        var bare = self
        if case .custom(let kind, _) = work { bare.work = .custom(kind: kind, payload: []) }
        let count = bare.encoded.count
        guard count <= Self.mostBytes else {
            throw Self.bad("the request has \(count) bytes; \(Self.mostBytes) are allowed")
        }
    }

    /// Checks a session's identifier.
    ///
    /// - Throws: ``TransferError/Code/badConfiguration``.
    static func check(identifier: String) throws(TransferError) {
        guard (1...200).contains(identifier.utf8.count), isPlain(identifier) else {
            throw TransferError(
                .badConfiguration,
                "a background session's identifier must be 1 to 200 bytes without control characters")
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

    /// Whether a field may hold a secret; `publicFields` cannot make an exception for credentials and cookies.
    private static func isSecret(_ name: HTTPField.Name, _ publicFields: Set<HTTPField.Name>) -> Bool {
        if [.authorization, .cookie, .proxyAuthorization].contains(name) { return true }
        return !RequestHead.isPublic(name, publicFields) && !RequestHead.ours.contains(name.canonicalName)
    }

    private func checkOptions() throws(TransferError) {
        if let file = options.certificateAuthorityFile { try Self.checkPath(file, "the file of authorities") }
        for (name, text) in [("label", options.label), ("credential", options.credential ?? "-")] {
            guard text.utf8.count <= 1000, Self.isPlain(text) else {
                throw Self.bad("the \(name) must be at most 1000 bytes without control characters")
            }
        }
        guard options.credential != "" else { throw Self.bad("the credential's name is empty") }
        guard options.timeoutForResource > 0 else { throw Self.bad("the time limit of the task must be at least 1 s") }
        guard options.rateLimit ?? 1 > 0 else { throw Self.bad("the rate limit must be at least 1 byte per second") }
    }

    private static func checkPath(_ path: String, _ what: String) throws(TransferError) {
        guard path.hasPrefix("/"), path.utf8.count < 4096, !path.utf8.contains(0) else {
            throw bad("\(what) must be an absolute path of at most 4095 bytes without NUL")
        }
    }

    private static func isPlain(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }

    private static func bad(_ message: String) -> TransferError { TransferError(.badRequest, message) }
}

extension BackgroundRequest {
    /// Whether doing the work twice has the same effect as once: false for an upload whose method is not idempotent (RFC
    /// 9110 section 9.2.2) and that has no idempotency key.
    var isRepeatable: Bool {
        guard case .upload(let request, _) = work else { return true }
        return RequestHead.isIdempotent(request.method) || options.idempotencyKey != nil
    }
}
