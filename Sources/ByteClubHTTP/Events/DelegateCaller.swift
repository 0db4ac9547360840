/// Turns the events of a session into the calls of its delegate.
actor DelegateCaller {
    private let delegate: any SessionDelegate
    private let name: String
    /// How far the callbacks of each task have come.
    private var scripts: [UInt64: CallbackScript] = [:]

    init(_ delegate: any SessionDelegate, name: String) {
        self.delegate = delegate
        self.name = name
    }

    func take(_ item: EventChannel.Item) async {
        switch item {
        case .event(let event, let task):
            var script = scripts.removeValue(forKey: task.id) ?? CallbackScript(isDownload: task.isDownload)
            let callbacks = script.callbacks(for: event)
            if case .finished = event {} else { scripts[task.id] = script }
            for callback in callbacks { await call(callback, task) }
        case .redirect(let redirect, let task, let waiter):
            // Cancelled while it was about to be asked about: nothing follows a task's end.
            guard scripts[task.id] != nil else { return waiter.resume(.stop) }
            waiter.resume(await delegate.task(task, willFollow: redirect))
        case .end:
            await delegate.sessionDidBecomeInvalid(name)
        }
    }

    private func call(_ callback: CallbackScript.Callback, _ task: SessionTask) async {
        switch callback {
        case .willRetry(let delay, let reason):
            await delegate.task(task, willRetryAfter: delay, because: reason)
        case .sent(let count, let total, let expected):
            await delegate.task(task, didSendBodyData: count, total: total, expected: expected)
        case .response(let response):
            await delegate.task(task, didReceive: response)
        case .data(let bytes):
            await delegate.task(task, didReceive: bytes)
        case .wrote(let count, let total, let expected):
            await delegate.task(task, didWriteData: count, total: total, expected: expected)
        case .downloaded(let path):
            await delegate.task(task, didFinishDownloadingTo: path)
        case .metrics(let metrics):
            await delegate.task(task, didFinishCollecting: metrics)
        case .completed(let error):
            await delegate.task(task, didCompleteWith: error)
        }
    }
}
