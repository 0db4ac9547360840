import ByteClubCore

extension RemoteError {
    /// Maps a refusal of Core API v1 to an error: the protocol's status table, in its one place.
    ///
    /// - Parameters:
    ///   - status: The HTTP status, from 300.
    ///   - message: What the server says.
    ///   - parameter: The parameter at fault, if the server names one.
    ///   - retryAfter: Seconds, from `Retry-After`.
    ///   - requestID: The server's name for the request.
    init(
        status: Int, message: String, parameter: String? = nil, retryAfter: Double? = nil, requestID: String? = nil
    ) {
        let code: Code
        switch status {
        case 400: code = parameter == "cursor" ? .badCursor : .badRequest
        case 401: code = .unauthorized
        case 403: code = .forbidden
        case 404: code = .notFound
        case 406: code = .tooMany
        case 409, 412: code = .conflict
        case 410: code = .staleCursor
        case 413: code = .tooLarge
        case 415: code = .undecodable
        case 416: code = .badRequest
        case 429: code = .rateLimited
        case 503: code = retryAfter == nil ? .serverFault : .rateLimited
        case 507: code = .overQuota
        case 408, 425: code = .unreachable
        case 500...599: code = .serverFault
        default: code = .protocolViolation
        }
        self.init(code, message, retryAfter: retryAfter, requestID: requestID)
        isOfRole = status == 403 && parameter == Account.roleParameter
    }

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

    static func tooLarge(_ path: RemotePath, _ limit: Int64) -> RemoteError {
        RemoteError(.tooLarge, "'\(path)' has more than \(limit) bytes")
    }
}
