import ByteClubCore
import Synchronization

/// The account as the server described it last, which names the server's extensions; kept so that it is asked once.
final class AccountCache: Sendable {
    private let slot = Mutex<Account?>(nil)

    var account: Account? {
        get { slot.withLock { $0 } }
        set { slot.withLock { $0 = newValue } }
    }
}
