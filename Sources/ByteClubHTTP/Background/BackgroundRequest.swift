public import HTTPTypes

/// What a background task is to do; recorded as it is, so that it can be done after the program has gone.
public struct BackgroundRequest: Sendable, Hashable {
    /// The kinds of work.
    public indirect enum Work: Sendable, Hashable {
        /// Writes a 2xx response's body to a file, continuing what came before as ``ResumeData`` allows.
        case download(HTTPRequest, to: String)
        /// Sends a file, which must stay as it is until it was sent.
        case upload(HTTPRequest, file: String)
        /// What the daemon's program does under that name: see ``BackgroundWork``.
        case custom(kind: String, payload: [UInt8])
    }

    /// What to do.
    public var work: Work

    /// How to do it.
    public var options: BackgroundOptions

    /// A request.
    public init(_ work: Work, options: BackgroundOptions = .init()) {
        self.work = work
        self.options = options
    }
}

/// How a background task does its work.
public struct BackgroundOptions: Sendable, Hashable {
    /// What people are told the task is; empty for the file's name.
    public var label = ""

    /// The name of the secret fields to send, or nil for none.
    ///
    /// Only the name is recorded; the daemon's ``BackgroundDaemon/credentials`` finds them each time that it sends.
    public var credential: String?

    /// Fields that hold no secret although their names do not tell; other fields that might are refused.
    public var publicFields: Set<HTTPField.Name> = []

    /// How urgent the task is among those that wait.
    public var priority = SessionTask.Priority.normal

    /// The most bytes per second, besides the daemon's ``RateSchedule``; nil for no limit.
    public var rateLimit: Int?

    /// See ``TaskOptions/idempotencyKey``.
    public var idempotencyKey: String?

    /// Not before so many seconds since 1970 is the task begun; nil for at once.
    public var earliestStart: Int64?

    /// How long the task may take in all, in seconds, from its ``BackgroundTask/resume()``, or its ``earliestStart``
    /// where that is later, waiting and retries included: 7 days.
    public var timeoutForResource: Int64 = 7 * 86400

    /// A PEM file of authorities to trust instead of the system's, or nil.
    public var certificateAuthorityFile: String?

    /// See ``SessionConfiguration/pinnedKeys``.
    public var pinnedKeys: Set<PublicKeyPin> = []

    /// The usual options.
    public init() {}
}
