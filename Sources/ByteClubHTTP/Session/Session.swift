import CLibcurl
import Glibc
public import HTTPTypes
import Synchronization

/// An HTTP client over libcurl, in the style of URLSession.
///
/// Each session owns one thread, its connections and its TLS sessions. Tasks may be created and used from any thread. A
/// session that is released without being invalidated completes its tasks and then ends.
public final class Session: Sendable {
    /// The session's name, which is also its thread's name.
    public let name: String

    let inbox: Inbox
    private let thread: Mutex<pthread_t?>
    private let limit: Mutex<Int?>
    /// Whether it is the program's shared session, which never ends.
    private let isShared: Bool

    /// Starts a session.
    ///
    /// - Parameters:
    ///   - configuration: The settings; later changes of the value have no effect.
    ///   - delegate: Receives callbacks in order, in addition to the async functions; retained until the session has
    ///     ended, so a delegate that retains its session must invalidate it.
    ///   - name: For debuggers; the first 15 bytes become the thread's name.
    /// - Throws: ``TransferError/Code/libraryMissing``, ``TransferError/Code/badConfiguration``, or `other` when the
    ///   system allows no further thread.
    public convenience init(
        configuration: SessionConfiguration, delegate: (any SessionDelegate)? = nil, name: String = "session"
    ) throws(TransferError) {
        try self.init(configuration, delegate: delegate, name: name, isShared: false)
    }

    private init(
        _ configuration: SessionConfiguration, delegate: (any SessionDelegate)?, name: String, isShared: Bool
    ) throws(TransferError) {
        let configuration = try configuration.resolved()
        _ = try CurlLibrary.version.get()
        let events = EventHub(monitors: configuration.eventMonitors, delegate: delegate, name: name)
        let inbox = try Inbox(configuration, events: events)
        self.inbox = inbox
        self.name = name
        self.isShared = isShared
        limit = Mutex(configuration.rateLimit)
        thread = try Mutex(LoopThread.start(inbox, name: name))
    }

    /// A session with the default configuration and without a delegate, for all of the program.
    ///
    /// It is created by the first use and lives as long as the program: ``finishTasksAndInvalidate()`` and
    /// ``invalidateAndCancel()`` return at once and change nothing. It keeps no cookies and no cache. Its
    /// ``setRateLimit(_:)`` concerns every part of the program that uses it.
    ///
    /// - Throws: As ``init(configuration:delegate:name:)``; a failure is final.
    public static var shared: Session {
        get throws(TransferError) { try common.get() }
    }

    private static let common = Result { () throws(TransferError) in
        try Session(.default, delegate: nil, name: "shared", isShared: true)
    }

    /// Loads libcurl and its dependencies, which the first session does otherwise.
    ///
    /// A short program calls this before it starts its first thread: with several threads, loading needs 50 % more
    /// time, since each mapping of a library interrupts the other processors. The first session reports a failure to
    /// load.
    public static func prepare() { _ = CurlLibrary.version }

    deinit {
        thread.withLock { thread in
            guard let running = thread else { return }
            _ = inbox.post(.invalidate(cancelling: false))
            pthread_detach(running)
        }
    }

    /// Creates a task that keeps the response's body in memory.
    ///
    /// - Parameters:
    ///   - request: Method, scheme, authority, path (percent-encoded) and fields. `Content-Length`, `Host`,
    ///     `Connection` and their kin are the session's own; a request's are ignored.
    ///   - body: The body to send.
    ///   - options: Settings that override the session's.
    /// - Returns: A suspended task; a request that cannot be sent fails when it is resumed.
    public func dataTask(_ request: HTTPRequest, body: Body = .none, options: TaskOptions = .init()) -> SessionTask {
        SessionTask(kind(.data, options), request, body: body, options: options, inbox: inbox, isListed: true)
    }

    /// The kind of a task whose body is in memory, unless the delegate reads it as it arrives.
    private func kind(_ whole: SessionTask.Kind, _ options: TaskOptions) -> SessionTask.Kind {
        options.deliversPieces && inbox.events.hasDelegate ? .stream(ResponseStream(isForDelegate: true)) : whole
    }

    /// Creates a task that sends a body and keeps the response's body in memory.
    ///
    /// - Parameters:
    ///   - request: As for ``dataTask(_:body:options:)``; usually PUT or POST.
    ///   - body: The body to send. A file is read while it is sent.
    ///   - options: Settings that override the session's.
    /// - Returns: A suspended task.
    public func uploadTask(_ request: HTTPRequest, from body: Body, options: TaskOptions = .init()) -> SessionTask {
        SessionTask(kind(.upload, options), request, body: body, options: options, inbox: inbox, isListed: true)
    }

    /// Creates a task that writes a 2xx response's body to a file.
    ///
    /// The file appears under its name, replacing an older one, only when it is complete; until then a hidden file
    /// grows in the same folder. For other statuses no file is created and the body is kept in memory. Nothing is
    /// decompressed. After a lost connection only the rest is requested, under the conditions of ``ResumeData``.
    ///
    /// - Parameters:
    ///   - request: As for ``dataTask(_:body:options:)``.
    ///   - path: The file; its folder must exist.
    ///   - options: Settings that override the session's.
    /// - Returns: A suspended task.
    public func downloadTask(_ request: HTTPRequest, to path: String, options: TaskOptions = .init()) -> SessionTask {
        SessionTask(.download(path: path), request, body: .none, options: options, inbox: inbox, isListed: true)
    }

    /// Changes ``SessionConfiguration/rateLimit`` at once, also for running tasks; nil for no limit.
    ///
    /// - Parameter rate: Bytes per second in each direction; values below 1 count as 1.
    public func setRateLimit(_ rate: Int?) {
        limit.withLock { limit in
            limit = rate
            _ = inbox.post(.limit(rate))
        }
    }

    /// The current limit for all tasks together in each direction, in bytes per second; nil for no limit.
    public var rateLimit: Int? { limit.withLock { $0 } }

    /// All tasks of the session that have no result, in the order of their creation.
    ///
    /// Suspended tasks are among them, also those that were never resumed as long as the caller holds them, and the
    /// tasks of the async functions. A task may end before this function returns.
    ///
    /// - Returns: The tasks; none once the session has ended.
    public func tasks() async -> [SessionTask] {
        // In this order: a task that is started meanwhile is in both, and not in neither.
        let unstarted = inbox.unstarted.all
        let started = await Waiter<[SessionTask]?>.value { inbox.post(.tasks($0)) ? nil : .some(nil) }
        guard let started else { return [] }
        let known = Set(started.map(\.id))
        let all = started + unstarted.filter { !known.contains($0.id) && $0.state != .completed }
        return all.sorted { $0.id < $1.id }
    }

    /// Accepts no more tasks, lets started ones finish, then ends the session.
    ///
    /// Returns when the session has ended. Suspended tasks must be resumed or cancelled for that. A task that is first
    /// resumed after this call fails with ``TransferError/Code/sessionInvalid``. The delegate may still receive
    /// callbacks; the last one is ``SessionDelegate/sessionDidBecomeInvalid(_:)``. Without effect on ``shared``.
    public func finishTasksAndInvalidate() async { await invalidate(cancelling: false) }

    /// Accepts no more tasks, cancels all others, then ends the session.
    ///
    /// Returns when every task has its result and the session has ended; tasks that were never resumed end with
    /// ``TransferError/Code/cancelled`` too. Without effect on ``shared``.
    public func invalidateAndCancel() async { await invalidate(cancelling: true) }

    private func invalidate(cancelling: Bool) async {
        if isShared { return }
        // Before the loop may end, since the end of the session is the last event.
        if cancelling { for task in inbox.unstarted.close() { task.cancel() } }
        _ = inbox.post(.invalidate(cancelling: cancelling))
        await inbox.ended()
        let ended = thread.withLock { thread -> pthread_t? in
            defer { thread = nil }
            return thread
        }
        // The loop has finished; its thread only frees what it owns.
        if let ended { pthread_join(ended, nil) }
    }
}
