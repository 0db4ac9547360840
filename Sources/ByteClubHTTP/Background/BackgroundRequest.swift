public import HTTPTypes

/// The work of a background task, which is recorded so that it can be done after the program has ended.
public struct BackgroundRequest: Sendable, Hashable {
    /// The kinds of work.
    public indirect enum Work: Sendable, Hashable {
        /// Writes a 2xx response's body to a file, and continues earlier attempts as ``ResumeData`` allows.
        case download(HTTPRequest, to: String)
        /// Sends a file, which must not change before it is sent.
        case upload(HTTPRequest, file: String)
        /// Work of the daemon's program: see ``BackgroundWork``.
        case custom(kind: String, payload: [UInt8])
    }

    /// The work.
    public var work: Work

    /// Its options.
    public var options: BackgroundOptions

    /// A request.
    public init(_ work: Work, options: BackgroundOptions = .init()) {
        self.work = work
        self.options = options
    }
}

/// The options of a background task.
public struct BackgroundOptions: Sendable, Hashable {
    /// The task's name for people; empty for the file's name.
    public var label = ""

    /// The name of the secret fields to send, or nil for none.
    ///
    /// Only the name is recorded; the daemon's ``BackgroundDaemon/credentials`` returns the fields at each attempt.
    public var credential: String?

    /// Fields of unknown names that hold no secret; other fields of unknown names are refused.
    public var publicFields: Set<HTTPField.Name> = []

    /// The task's priority among waiting tasks.
    public var priority = SessionTask.Priority.normal

    /// The limit in bytes per second, in addition to the daemon's ``RateSchedule``; nil for none.
    public var rateLimit: Int?

    /// See ``TaskOptions/idempotencyKey``.
    public var idempotencyKey: String?

    /// When the task may begin, in seconds since 1970; nil for at once.
    public var earliestStart: Int64?

    /// How long the task may take with all waits and retries, in seconds: 7 days.
    ///
    /// The time begins with ``BackgroundTask/resume()``, or ``earliestStart`` where that is later.
    public var timeoutForResource: Int64 = 7 * 86400

    /// A PEM file of certificate authorities to trust instead of the system's, or nil.
    public var certificateAuthorityFile: String?

    /// See ``SessionConfiguration/pinnedKeys``.
    public var pinnedKeys: Set<PublicKeyPin> = []

    /// Whether the task may use a metered network: see ``NetworkConditions/isMetered``.
    ///
    /// On a network that is not allowed, the task waits until it is, with ``BackgroundStatus/obstacle``. A task under
    /// way is stopped when the network becomes one that is not allowed, with its transferred bytes kept, except an
    /// upload that must not be sent twice.
    public var allowsMetered = true

    /// Whether the task may use a constrained network: see ``NetworkConditions/isConstrained`` and ``allowsMetered``.
    public var allowsConstrained = true

    /// Whether the task waits for mains power and a network that is not metered.
    ///
    /// A task under way is not stopped when the machine changes to its battery.
    public var isDiscretionary = false

    /// The usual options.
    public init() {}
}
