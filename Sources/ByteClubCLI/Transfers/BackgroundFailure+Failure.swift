import ByteClubCore
import ByteClubHTTP

extension BackgroundFailure {
    /// Why a photo was not transferred, for people.
    init(_ error: any Error) {
        let failure = Failure(error)
        var (code, isRetryable, retryAfter) = ("\(failure.status)", false, Int64?.none)
        switch error {
        case let error as RemoteError:
            (code, isRetryable) = (error.code.description, error.isRetryable)
            retryAfter = error.retryAfter.map { Int64($0.rounded(.up)) }
        case let error as TransferError:
            (code, isRetryable) = (error.code.description, error.isRetryable || failure.status == .unavailable)
        default: break
        }
        var message = Failure.line(failure.message)
        if failure.status == .notAuthorised || failure.status == .configuration {
            message += "; then run 'byteclub transfers resume --all'"
        }
        self.init(code: code, message: message, isRetryable: isRetryable, retryAfter: retryAfter)
    }

    /// Does a work, and tells as one of these why it failed; a cancellation stays one.
    static func telling<Value>(_ work: () async throws -> Value) async throws -> Value {
        do { return try await work() } catch {
            if Task.isCancelled { throw CancellationError() }
            throw BackgroundFailure(error)
        }
    }
}
