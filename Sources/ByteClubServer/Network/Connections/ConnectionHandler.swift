import ByteClubCore
import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Manages a connection: refuses bytes that are not HTTP, disconnects stalled clients, and ends connections without
/// losing the last response.
///
/// A server that answers before it has read the whole request must not close at once: unread bytes would make the
/// kernel reset the connection, and the client might never see the answer. So the sending side is closed first, further
/// input is dropped, and the rest is closed when the client is done or a moment has passed.
final class ConnectionHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private static let patience = TimeAmount.seconds(2)

    private let limits: ConnectionLimits
    private let connections: OpenConnections
    private let isSecure: Bool
    private var meter: ByteMeter?
    private var gate: RequestGate?
    private var inspection: Scheduled<Void>?
    private var exchange = ExchangeState()
    private var isClosing = false
    private var takesNoMore = false
    private var isLastRequest = false
    /// When the last answer that has ended is with the kernel.
    private var lastAnswer: EventLoopFuture<Void>?
    private var isInputClosed = false
    private var hangUp: (@Sendable () -> Void)?
    private var idleSince = NIODeadline.now()
    private var receivedAtMark: Int64 = 0
    private var sendingMark: (since: NIODeadline, taken: Int64)?

    /// Judges one of a server's connections, over TLS or not, by these limits.
    init(limits: ConnectionLimits, connections: OpenConnections, isSecure: Bool) {
        self.limits = limits
        self.connections = connections
        self.isSecure = isSecure
    }

    func handlerAdded(context: ChannelHandlerContext) {
        gate = try? context.pipeline.syncOperations.handler(type: RequestGate.self)
        meter = try? context.pipeline.syncOperations.handler(type: ByteMeter.self)
        inspectLater(context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        inspection?.cancel()
        (meter, gate) = (nil, nil)
    }

    func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        switch meter?.admission {
        case .refused: answer(ConnectionFault.tooManyConnections, context)
        case .turnedAway:
            answer(ConnectionFault.tooManyConnections, context)
            context.close(promise: nil)
        case .served, nil: break
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        inspection?.cancel()
        reportHangUp()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isClosing || takesNoMore { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            guard exchange.requestsInProgress < ConnectionFault.mostRequests else {
                return errorCaught(context: context, error: ConnectionFault.tooManyWaiting)
            }
            guard !exchange.isIdle || connections.begin(context.channel) else {
                return answer(ConnectionFault.tooManyConnections, context)
            }
            let connection = head.headerFields[.connection]?.lowercased() ?? ""
            exchange.headReceived(asksToClose: connection.contains("close"))
            isLastRequest = LastRequest.offersAnotherProtocol(head)
            expectBody(of: head)
            markReceiving()
        case .body: break
        case .end:
            exchange.endReceived()
            meter?.forgetStart()
            gate?.expectHead()
            takesNoMore = isLastRequest
        }
        regulate(context)
        context.fireChannelRead(data)
    }

    private func expectBody(of head: HTTPRequest) {
        if head.headerFields[.transferEncoding] != nil {
            gate?.expectBody(nil)
        } else if let length = head.headerFields[.contentLength].flatMap({ Int64($0) }), length > 0 {
            gate?.expectBody(length)
        }
    }

    /// Reads as much as the running requests allow, and reports when there is no request.
    private func regulate(_ context: ChannelHandlerContext) {
        gate?.hold(exchange.isAnswerDue)
        if takesNoMore, !exchange.isAnswerDue { gate?.drop() }
        if exchange.isIdle { connections.rest(context.channel, at: .now()) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let fault = ConnectionFault.refusal(for: error) else { return context.fireErrorCaught(error) }
        takesNoMore = true
        switch exchange.onFault() {
        case .answer: answer(fault, context)
        case .afterResponses: exchange.fault = fault
        case .close: context.close(promise: nil)
        case .ignore: break
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if isClosing { return promise?.fail(ChannelError.ioOnClosedChannel) ?? () }
        switch unwrapOutboundIn(data) {
        case .head(let head) where head.status.code >= 200:
            exchange.responseBegun(isLast: head.headerFields[.connection] == "close")
            context.write(data, promise: promise)
        case .end:
            exchange.responseEnded()
            idleSince = .now()
            meter?.forgetStart()
            if exchange.isLastResponse {
                end(data, promise, context)
            } else {
                let sent = promise ?? context.eventLoop.makePromise()
                lastAnswer = sent.futureResult
                context.write(data, promise: sent)
                if let fault = exchange.takeFault() { return answer(fault, context) }
                regulate(context)
            }
        default:
            context.write(data, promise: promise)
        }
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode == .output, let lastAnswer else { return context.close(mode: mode, promise: promise) }
        closeOutput(context, after: lastAnswer, promise)
    }

    /// Ends the sending side after an answer.
    ///
    /// At once, it would end both sides for a client that has ended its own, and drop bytes that are not in the kernel
    /// yet.
    private func closeOutput(
        _ context: ChannelHandlerContext, after answer: EventLoopFuture<Void>, _ promise: EventLoopPromise<Void>?
    ) {
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        answer.whenComplete { _ in bound.value.close(mode: .output, promise: promise) }
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        if event is Eviction { return giveWay(context) }
        if event is ShutOut { return shutOut(context) }
        guard let waiting = event as? ClientWaits else {
            return context.triggerUserOutboundEvent(event, promise: promise)
        }
        hangUp = waiting.onHangUp
        // A client may hang up before its request begins to wait.
        if hangUp != nil, isInputClosed || !context.channel.isActive {
            reportHangUp()
            context.close(promise: nil)
        }
        promise?.succeed()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ClientStopped { inputEnded(context) }
        if case ChannelEvent.inputClosed? = event as? ChannelEvent { inputEnded(context) }
        if event is ChannelShouldQuiesceEvent {
            let channel = context.channel
            context.eventLoop.scheduleTask(in: limits.drain) { channel.close(promise: nil) }
        }
        context.fireUserInboundEventTriggered(event)
    }

    private func inputEnded(_ context: ChannelHandlerContext) {
        isInputClosed = true
        if isClosing {
            context.close(promise: nil)
        } else if hangUp != nil {
            reportHangUp()
            context.close(promise: nil)
        }
    }

    private func reportHangUp() {
        hangUp?()
        hangUp = nil
    }

    // MARK: - Ending

    /// Ends an idle connection, in silence between two requests.
    private func giveWay(_ context: ChannelHandlerContext) {
        guard !isClosing, exchange.isIdle else { return }
        if exchange.hasServed, meter?.start == nil { return context.close(promise: nil) }
        answer(ConnectionFault.tooManyConnections, context)
    }

    /// Ends the running request, whose sender's credential was revoked.
    ///
    /// A task that waits for its answer is woken and refuses it; a body that is still incomplete is refused here,
    /// because the client may send nothing for long.
    private func shutOut(_ context: ChannelHandlerContext) {
        if isClosing { return }
        if exchange.hasResponseBegun { return context.close(promise: nil) }
        if exchange.isReceiving { return answer(Standing.refusal, context) }
        reportHangUp()
    }

    private func answer(_ refusal: APIError, _ context: ChannelHandlerContext) {
        let body = ByteBuffer(bytes: refusal.json())
        var head = HTTPResponse(
            status: HTTPResponse.Status(code: refusal.status),
            headerFields: [
                .connection: "close", .contentType: "application/json", .contentLength: String(body.readableBytes),
                .xContentTypeOptions: "nosniff",
            ])
        if isSecure { head.headerFields.requireTLS() }
        if let seconds = refusal.retryAfter { head.headerFields[.retryAfter] = String(seconds) }
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(body)), promise: nil)
        end(wrapOutboundOut(.end(nil)), nil, context)
    }

    private func end(_ last: NIOAny, _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext) {
        isClosing = true
        inspection?.cancel()
        gate?.drop()
        let sent = promise ?? context.eventLoop.makePromise()
        context.writeAndFlush(last, promise: sent)
        closeOutput(context, after: sent.futureResult, nil)
        let channel = context.channel
        context.eventLoop.scheduleTask(in: Self.patience) { channel.close(promise: nil) }
    }

    // MARK: - Pace

    private func inspectLater(_ context: ChannelHandlerContext) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        inspection = context.eventLoop.scheduleTask(in: limits.interval) {
            let (handler, context) = bound.value
            handler.inspect(context)
        }
    }

    private func inspect(_ context: ChannelHandlerContext) {
        guard !isClosing, let meter else { return }
        let now = NIODeadline.now()
        if isTooSlowToTake(meter, context, at: now) { return context.close(promise: nil) }
        if exchange.isIdle {
            if let start = meter.start {
                if now - start > limits.head { return answer(ConnectionFault.slowHead, context) }
            } else if now - idleSince > (exchange.hasServed ? limits.idle : limits.head) {
                return context.close(promise: nil)
            }
        } else if exchange.isReceiving, meter.waited(at: now) >= limits.stall {
            if meter.received - receivedAtMark < limits.leastBytes {
                return exchange.hasResponseBegun
                    ? context.close(promise: nil) : answer(ConnectionFault.slowBody, context)
            }
            markReceiving()
        }
        inspectLater(context)
    }

    private func markReceiving() {
        guard let meter else { return }
        receivedAtMark = meter.received
        meter.forgetWaiting(at: .now())
    }

    /// Whether bytes wait for the client, and it has received too few of them.
    private func isTooSlowToTake(
        _ meter: ByteMeter, _ context: ChannelHandlerContext, at now: NIODeadline
    ) -> Bool {
        let waiting = (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
        let taken = meter.written - Int64(waiting)
        guard waiting > 0, let mark = sendingMark else {
            sendingMark = waiting > 0 ? (now, taken) : nil
            return false
        }
        guard now - mark.since >= limits.stall else { return false }
        sendingMark = (now, taken)
        return taken - mark.taken < limits.leastBytes
    }
}

/// Sets the action for when the client hangs up while it waits for an answer; nil when it no longer waits.
struct ClientWaits: Sendable {
    let onHangUp: (@Sendable () -> Void)?
}
