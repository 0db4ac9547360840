import ByteClubCore
import Synchronization

/// What a server said of its powers, kept so that it is asked once.
final class FeatureCache: Sendable {
    private let slot = Mutex<RemoteFeatures?>(nil)

    var features: RemoteFeatures? {
        get { slot.withLock { $0 } }
        set { slot.withLock { $0 = newValue } }
    }
}
