import ByteClubCore

/// The state of a connection between requests and responses, as far as it matters for ending it.
struct ExchangeState {
    /// The reaction to input that is not HTTP.
    enum FaultAction: Equatable {
        /// It is part of the request that has no response yet, or follows no open one: answer it.
        case answer
        /// It follows a request whose response is still to come: answer it then.
        case afterResponses
        /// A response without a known end has begun: close.
        case close
        /// It follows a request that was to be the last one: it does not count.
        case ignore
    }

    /// The requests whose responses have not ended.
    private(set) var requestsInProgress = 0
    /// Whether the last request asked for the connection's end.
    private var asksToClose = false
    /// Whether a request's head has come and its end has not.
    private(set) var isReceiving = false
    /// Whether a response's head was sent and its end was not.
    private(set) var hasResponseBegun = false
    /// Whether the connection ends with the response under way.
    private(set) var isLastResponse = false
    /// Whether any response has ended.
    private(set) var hasServed = false
    /// The error to answer when the running responses have ended.
    var fault: APIError?

    /// Whether no request is under way.
    var isIdle: Bool { requestsInProgress == 0 && !isReceiving }
    /// Whether a request has come whole and its response has not ended.
    var isAnswerDue: Bool { requestsInProgress > (isReceiving ? 1 : 0) }

    mutating func headReceived(asksToClose: Bool) {
        self.asksToClose = asksToClose
        requestsInProgress += 1
        isReceiving = true
    }

    mutating func endReceived() { isReceiving = false }

    mutating func responseBegun(isLast: Bool) {
        hasResponseBegun = true
        isLastResponse = isLast
    }

    mutating func responseEnded() {
        requestsInProgress -= 1
        hasResponseBegun = false
        hasServed = true
    }

    /// The reaction to input that is not HTTP, in this state.
    func onFault() -> FaultAction {
        if asksToClose, !isReceiving { return .ignore }
        if requestsInProgress == 0 { return isReceiving ? .close : .answer }
        if requestsInProgress > 1 || !isReceiving { return .afterResponses }
        return hasResponseBegun ? .close : .answer
    }

    /// The fault to answer once no response is due.
    mutating func takeFault() -> APIError? {
        guard requestsInProgress == 0 || (requestsInProgress == 1 && isReceiving) else { return nil }
        defer { fault = nil }
        return fault
    }
}
