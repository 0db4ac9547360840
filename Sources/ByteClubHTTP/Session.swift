import CLibcurl
import Glibc
public import HTTPTypes
import Synchronization

/// Makes requests: a door to HTTP in the manner of URLSession, over libcurl.
///
/// Each session owns one thread, its connections and its TLS sessions. Tasks may be made and used from any thread.
/// A session that is dropped without being invalidated lets its tasks end and then ends itself.
public final class Session: Sendable {
    /// The session's name, as its thread bears it.
    public let name: String

    let inbox: Inbox
    private let thread: Mutex<pthread_t?>
    private let limit: Mutex<Int?>

    /// Starts a session.
    ///
    /// - Parameters:
    ///   - configuration: What the session does; later changes of the value have no effect.
    ///   - delegate: Gets callbacks in order, next to async and await; held until the session has ended, so a delegate
    ///     that holds its session must have it invalidated.
    ///   - name: For debuggers; the first 15 bytes become the thread's name.
    /// - Throws: ``TransferError/Code/libraryMissing``, ``TransferError/Code/badConfiguration``, or `other` when the
    ///   system allows no further thread.
    public init(
        configuration: SessionConfiguration, delegate: (any SessionDelegate)? = nil, name: String = "session"
    ) throws(TransferError) {
        let configuration = try configuration.resolved()
        _ = try CurlLibrary.version.get()
        let events = EventHub(monitors: configuration.eventMonitors, delegate: delegate, name: name)
        let inbox = try Inbox(configuration, events: events)
        self.inbox = inbox
        self.name = name
        limit = Mutex(configuration.rateLimit)
        thread = try Mutex(LoopThread.start(inbox, name: name))
    }

    /// Loads libcurl and its dozens of libraries, which the first session does otherwise.
    ///
    /// A short program calls this before it starts its first thread: with several, every mapping of a library disturbs
    /// the other processors, and loading takes half as long again. A library that cannot be loaded is the first
    /// session's error.
    public static func prepare() { _ = CurlLibrary.version }

    deinit {
        thread.withLock { thread in
            guard let running = thread else { return }
            _ = inbox.post(.invalidate(cancelling: false))
            pthread_detach(running)
        }
    }

    /// Makes a task whose response's body is kept in memory.
    ///
    /// - Parameters:
    ///   - request: Method, scheme, authority, path (percent-encoded) and fields. `Content-Length`, `Host`,
    ///     `Connection` and their kin are the session's own; a request's are ignored.
    ///   - body: What to send.
    ///   - options: What to do differently from the session.
    /// - Returns: A suspended task; a request that cannot be sent fails when it is resumed.
    public func dataTask(_ request: HTTPRequest, body: Body = .none, options: TaskOptions = .init()) -> SessionTask {
        SessionTask(.data, request, body: body, options: options, inbox: inbox)
    }

    /// Makes a task that sends a body; the response's body is kept in memory.
    ///
    /// - Parameters:
    ///   - request: As for ``dataTask(_:body:options:)``; usually PUT or POST.
    ///   - body: What to send. A file is read while it is sent.
    ///   - options: What to do differently from the session.
    /// - Returns: A suspended task.
    public func uploadTask(_ request: HTTPRequest, from body: Body, options: TaskOptions = .init()) -> SessionTask {
        SessionTask(.upload, request, body: body, options: options, inbox: inbox)
    }

    /// Makes a task that writes a 2xx response's body to a file.
    ///
    /// The file appears under its name, replacing another, only when it is whole; until then a hidden one in the same
    /// folder grows. With any other status no file is made and the body is kept in memory. Nothing is decompressed.
    /// When the connection is lost and tried again, only the rest is asked for, where ``ResumeData`` could exist.
    ///
    /// - Parameters:
    ///   - request: As for ``dataTask(_:body:options:)``.
    ///   - path: The file; its folder must exist.
    ///   - options: What to do differently from the session.
    /// - Returns: A suspended task.
    public func downloadTask(_ request: HTTPRequest, to path: String, options: TaskOptions = .init()) -> SessionTask {
        SessionTask(.download(path: path), request, body: .none, options: options, inbox: inbox)
    }

    /// Changes ``SessionConfiguration/rateLimit`` at once, also for what is under way; nil for no limit.
    ///
    /// - Parameter rate: Bytes per second in each direction; values below 1 count as 1.
    public func setRateLimit(_ rate: Int?) {
        limit.withLock { limit in
            limit = rate
            _ = inbox.post(.limit(rate))
        }
    }

    /// The most bytes a second that all tasks together move in each direction now; nil for no limit.
    public var rateLimit: Int? { limit.withLock { $0 } }

    /// Takes no more tasks, lets those that were started end, then ends the session.
    ///
    /// Returns when nothing of the session runs any more. Suspended tasks must be resumed or cancelled for that. A task
    /// that is resumed for the first time after this call fails with ``TransferError/Code/sessionInvalid``. The delegate
    /// may still have callbacks to come; its last one is ``SessionDelegate/sessionDidBecomeInvalid(_:)``.
    public func finishTasksAndInvalidate() async { await invalidate(cancelling: false) }

    /// Takes no more tasks, cancels those that were started, then ends the session.
    ///
    /// Returns when every task has its result and nothing of the session runs any more.
    public func invalidateAndCancel() async { await invalidate(cancelling: true) }

    private func invalidate(cancelling: Bool) async {
        _ = inbox.post(.invalidate(cancelling: cancelling))
        await inbox.ended()
        let ended = thread.withLock { thread -> pthread_t? in
            defer { thread = nil }
            return thread
        }
        // The loop said that it is done; its thread has nothing left but to free what it owns.
        if let ended { pthread_join(ended, nil) }
    }
}
