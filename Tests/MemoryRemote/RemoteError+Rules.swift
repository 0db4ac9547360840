import ByteClubCore
import ByteClubRemotes

extension RemoteError {
    /// Maps a refusal by the shared folder's rules.
    init(_ error: APIError) {
        self.init(
            status: error.status, message: error.message, parameter: error.parameter,
            retryAfter: error.retryAfter.map { Double($0) })
    }

    /// Runs the shared folder's rules and maps what they throw.
    static func mapping<Value>(_ work: () throws -> Value) throws(RemoteError) -> Value {
        do {
            return try work()
        } catch let error as APIError {
            throw RemoteError(error)
        } catch let error as PathError {
            throw RemoteError(.badRequest, error.message)
        } catch let error as RemoteError {
            throw error
        } catch {
            throw RemoteError(.serverFault, "\(error)")
        }
    }

    /// Fails with `cancelled` when the surrounding task is.
    static func checkCancellation() throws(RemoteError) {
        if Task.isCancelled { throw RemoteError(.cancelled, "cancelled") }
    }
}
