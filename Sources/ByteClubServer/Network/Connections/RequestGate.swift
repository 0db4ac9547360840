import NIOCore

/// Passes a connection's bytes on one request at a time: while an answer is due nothing more is read, and bytes after
/// the request are held here.
///
/// Without it the requests of a client that reads no answers would all be parsed and kept. It still detects a client
/// that hangs up, because the kernel reports that without a read.
final class RequestGate: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The most bytes that are read at once, except of a body.
    static let headRead = 16 << 10
    /// The most bytes of a body that are read at once.
    ///
    /// A channel keeps the buffers of as many reads as it may do in a row for as long as it is open; so it does one.
    static let bodyRead = 64 << 10
    /// The most bytes that may be held after a request: those of one read, over TLS with the rest of a record.
    ///
    /// There are more when a client ends its side of the connection, because the kernel then delivers all that it has.
    static let mostHeld = bodyRead + headRead

    /// The part of a message that is expected next.
    private enum Expectation {
        /// A request's head, which an empty line ends.
        case head
        /// So many bytes of a body.
        case body(Int64)
        /// A body in chunks, whose end the parser alone finds.
        case chunks
    }

    /// How far the search for a head's end has come.
    private enum Line {
        /// Nothing of the head has come, line ends apart.
        case none
        /// This line has text.
        case text
        /// This line has no text yet, but an earlier one has.
        case empty
    }

    private var expectation = Expectation.head
    private var isOpen = true
    private var isDropping = false
    private var held = ByteBuffer()
    private var line = Line.none
    private var isFeeding = false
    private var wantsRead = false
    private var hidesEndOfInput = false
    private var readsBodies = false
    private var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        expectLittle(context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
    }

    // MARK: - The state of the requests

    /// Expects a body: of a length, or in chunks when that is nil.
    func expectBody(_ length: Int64?) {
        expectation = length.map { .body($0) } ?? .chunks
        guard let context, !readsBodies, length ?? .max > Int64(Self.headRead) else { return }
        readsBodies = true
        expectMuch(context)
    }

    /// Expects the next request.
    func expectHead() {
        expectation = .head
        line = .none
        guard let context, readsBodies else { return }
        readsBodies = false
        expectLittle(context)
    }

    /// Holds everything back, as while an answer is due, or lets it through again.
    func hold(_ isHeld: Bool) {
        guard isOpen == isHeld else { return }
        isOpen = !isHeld
        guard isOpen, let context else { return }
        if held.readableBytes == 0 { return readIfWanted(context) }
        // Not within the answer that is just being written, behind which the connection may end.
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.eventLoop.execute {
            let (gate, context) = bound.value
            gate.resume(context)
        }
    }

    /// Drops held and further bytes, so that the connection can end in order.
    func drop() {
        isDropping = true
        held = ByteBuffer()
        // A handler that reads may have enough bytes and not read again.
        context?.read()
    }

    // MARK: - Bytes

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isDropping { return }
        var bytes = unwrapInboundIn(data)
        if held.readableBytes == 0 { held = bytes } else { held.writeBuffer(&bytes) }
        feed(context)
        if held.readableBytes > Self.mostHeld {
            drop()
            context.fireErrorCaught(ConnectionFault.tooManyWaiting)
        } else if held.readableBytes > 0 {
            // The rest must not keep the memory of the whole buffer alive.
            held = ByteBuffer(bytes: held.readableBytesView)
        }
    }

    func read(context: ChannelHandlerContext) {
        if isDropping || isOpen && held.readableBytes == 0 { return context.read() }
        wantsRead = true
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.fireChannelReadComplete()
        if isDropping { context.read() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case ChannelEvent.inputClosed? = event as? ChannelEvent, held.readableBytes > 0 else {
            return context.fireUserInboundEventTriggered(event)
        }
        // Those behind would take no more requests, and some of them are still here.
        hidesEndOfInput = true
        context.fireUserInboundEventTriggered(ClientStopped())
    }

    func channelInactive(context: ChannelHandlerContext) {
        isDropping = true
        held = ByteBuffer()
        context.fireChannelInactive()
    }

    private func resume(_ context: ChannelHandlerContext) {
        guard isOpen, held.readableBytes > 0 else { return }
        feed(context)
        context.fireChannelReadComplete()
        readIfWanted(context)
    }

    /// Passes bytes on piece by piece: each piece may end a request, after which nothing may follow at first.
    private func feed(_ context: ChannelHandlerContext) {
        if isFeeding { return }
        isFeeding = true
        while isOpen, !isDropping, let piece = nextPiece() { context.fireChannelRead(wrapInboundOut(piece)) }
        isFeeding = false
        guard held.readableBytes == 0 else { return }
        held = ByteBuffer()
        reportEndOfInput(context)
    }

    private func nextPiece() -> ByteBuffer? {
        let count = held.readableBytes
        guard count > 0 else { return nil }
        switch expectation {
        case .head: return held.readSlice(length: headLength())
        case .chunks: return held.readSlice(length: min(count, Self.headRead))
        case .body(let left):
            let piece = left > 0 ? Int(min(Int64(count), left)) : count
            expectation = .body(left - Int64(piece))
            return held.readSlice(length: piece)
        }
    }

    /// The bytes up to the empty line that ends a head, which may have begun in an earlier piece; all when there is
    /// none.
    private func headLength() -> Int {
        for (index, byte) in held.readableBytesView.enumerated() {
            switch (byte, line) {
            case (UInt8(ascii: "\n"), .empty): return index + 1
            case (UInt8(ascii: "\n"), .text): line = .empty
            case (UInt8(ascii: "\n"), .none), (UInt8(ascii: "\r"), _): break
            default: line = .text
            }
        }
        return held.readableBytes
    }

    private func readIfWanted(_ context: ChannelHandlerContext) {
        guard wantsRead, isDropping || isOpen && held.readableBytes == 0 else { return }
        wantsRead = false
        context.read()
    }

    private func reportEndOfInput(_ context: ChannelHandlerContext) {
        guard hidesEndOfInput else { return }
        hidesEndOfInput = false
        context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    }

    private func expectLittle(_ context: ChannelHandlerContext) {
        read(AdaptiveRecvByteBufferAllocator(minimum: 1 << 10, initial: 2 << 10, maximum: Self.headRead), context)
    }

    private func expectMuch(_ context: ChannelHandlerContext) {
        read(AdaptiveRecvByteBufferAllocator(minimum: 4 << 10, initial: 32 << 10, maximum: Self.bodyRead), context)
    }

    private func read(_ allocator: AdaptiveRecvByteBufferAllocator, _ context: ChannelHandlerContext) {
        let options = context.channel.syncOptions
        try? options?.setOption(ChannelOptions.recvAllocator, value: allocator)
        try? options?.setOption(ChannelOptions.maxMessagesPerRead, value: 1)
    }
}

/// The event that a client sends nothing more, while some of its requests are still held.
struct ClientStopped: Sendable {}
