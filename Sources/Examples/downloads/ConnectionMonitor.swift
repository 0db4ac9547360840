import ByteClubHTTP
import DownloadBoard
import HTTPTypes

/// Reports where downloads wait for a network, and where they go on, which neither progress nor result tells.
struct ConnectionMonitor: EventMonitor {
    let targets: [Target]
    let given: AsyncStream<Board.Event>.Continuation

    func receive(_ event: TaskEvent, of task: SessionTask) async {
        guard let place = targets.firstIndex(where: { $0.isSame(as: task.request) }) else { return }
        switch event {
        case .waitingForConnectivity: given.yield(.offline(place))
        case .responseReceived: given.yield(.answered(place))
        case .downloadResumed(let offset, let expected):
            given.yield(.resumed(place, at: offset, total: expected < 0 ? nil : expected))
        default: break
        }
    }

    func sessionEnded(_ name: String) async { given.finish() }
}
