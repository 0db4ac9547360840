import CLibcurl
import Glibc
import HTTPTypes

/// The callbacks that libcurl calls while the loop runs.
///
/// Each only moves bytes and records facts; none calls into libcurl or, except for ``judgeHead()``, into user code.
extension Transfer {
    private static func from(_ context: UnsafeMutableRawPointer) -> Transfer {
        unsafe Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    }

    static let onHeader: curl_write_callback = { bytes, size, count, context in
        guard let bytes = unsafe bytes, let context = unsafe context else { return 0 }
        let transfer = unsafe from(context)
        let attempt = transfer.attempt
        attempt.lastActivity = .now
        if attempt.headBytes == 0 { attempt.answered = .fine }
        attempt.headBytes += size * count
        guard attempt.headBytes <= mostHeadBytes else {
            attempt.failure = transfer.error(
                .protocolViolation, "the head of the response is longer than \(mostHeadBytes) bytes", phase: .receive)
            return 0
        }
        let wasWhole = attempt.parser.isComplete
        guard unsafe attempt.parser.consume(UnsafeRawBufferPointer(start: bytes, count: size * count)) else {
            attempt.failure = transfer.error(.protocolViolation, "the server does not speak HTTP", phase: .receive)
            return 0
        }
        if !wasWhole, let response = attempt.response { transfer.takeCookies(of: response) }
        return transfer.takeHead() && transfer.judgeHead() ? size * count : 0
    }

    static let onBody: curl_write_callback = { bytes, size, count, context in
        guard let bytes = unsafe bytes, let context = unsafe context else { return 0 }
        return unsafe from(context).receive(UnsafeRawBufferPointer(start: bytes, count: size * count))
    }

    static let onRead: curl_read_callback = { buffer, size, count, context in
        guard let buffer = unsafe buffer, let context = unsafe context else { return Int(CURL_READFUNC_ABORT) }
        return unsafe from(context).send(into: UnsafeMutableRawBufferPointer(start: buffer, count: size * count))
    }

    static let onSeek: curl_seek_callback = { context, offset, origin in
        guard let context = unsafe context else { return CURL_SEEKFUNC_FAIL }
        return unsafe from(context).seek(to: Int64(offset), from: origin)
    }

    static let onRequest: curl_prereq_callback = { context, _, _, _, _ in
        guard let context = unsafe context, unsafe from(context).mayBeSent() else { return CURL_PREREQFUNC_ABORT }
        return CURL_PREREQFUNC_OK
    }

    static let onProgress: curl_xferinfo_callback = { context, expectedDown, down, _, up in
        guard let context = unsafe context else { return 1 }
        unsafe from(context).count(sent: Int64(up), received: Int64(down), expected: Int64(expectedDown))
        return 0
    }

    private func receive(_ chunk: UnsafeRawBufferPointer) -> Int {
        // An error in bytes that libcurl held while paused is reported only by curl_easy_pause, and more bytes may
        // follow: none must be accepted after the gap.
        let attempt = attempt
        if attempt.failure != nil { return 0 }
        if isSuspended { return Int(CURL_WRITEFUNC_PAUSE) }
        let now = Moment.now
        if let reader, !reader.hasRoom(for: chunk.count) {
            heldSince = heldSince ?? now
            return Int(CURL_WRITEFUNC_PAUSE)
        }
        guard mayReceive(chunk.count, at: now) else { return Int(CURL_WRITEFUNC_PAUSE) }
        attempt.lastActivity = now
        if willBeDiscarded {
            attempt.discarded += chunk.count
            return attempt.discarded > Self.mostDiscarded ? 0 : chunk.count
        }
        do throws(DownloadFile.Failure) {
            if let path = filePath {
                let file = try openFile(path)
                if let limit = attempt.bodyLimit, Int64(chunk.count) > limit - file.size {
                    return refuseBody(over: limit)
                }
                try unsafe file.write(chunk)
                return chunk.count
            }
        } catch {
            attempt.failure = self.error(.cannotWriteFile, error.message, phase: .file, errno: error.errno)
            return 0
        }
        if let reader {
            if let limit = attempt.bodyLimit, Int64(chunk.count) > limit - attempt.streamed {
                return refuseBody(over: limit)
            }
            attempt.streamed += Int64(chunk.count)
            if unsafe reader.append(chunk) {
                // The callback for the head precedes those for the body.
                announceResponse(sent: attempt.sent)
                task.inbox.events.postPieces(of: task)
            }
            return chunk.count
        }
        let limit = Int(min(Int64(max(task.options.maximumResponseBytes, 0)), attempt.bodyLimit ?? .max))
        guard chunk.count <= limit - attempt.bytes.count else { return refuseBody(over: Int64(limit)) }
        if attempt.bytes.isEmpty, meter.progress.bytesExpectedToReceive > 0 {
            // A growing buffer is copied and briefly exists twice. Reserved memory that the server never fills is never
            // touched, so it only costs address space.
            let announced = min(meter.progress.bytesExpectedToReceive, Int64(limit), Self.mostReserved)
            attempt.bytes.reserveCapacity(Int(announced))
        }
        unsafe attempt.bytes.append(contentsOf: chunk)
        return chunk.count
    }

    private static let mostDiscarded = 1 << 20

    /// The maximum number of bytes reserved before a body arrives.
    private static let mostReserved: Int64 = 64 << 20

    /// The maximum total length of the response heads of one attempt, including trailers and interim responses.
    private static let mostHeadBytes = 128 << 10

    private func send(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        if isSuspended { return Int(CURL_READFUNC_PAUSE) }
        guard let source, buffer.count > 0 else { return 0 }
        var buffer = unsafe buffer
        let left = source.remaining
        if left > 0 {
            guard let count = sendable(Int(min(left, Int64(buffer.count))), at: .now) else {
                return Int(CURL_READFUNC_PAUSE)
            }
            unsafe buffer = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
        }
        do {
            guard let count = try unsafe source.read(into: buffer) else { return Int(CURL_READFUNC_PAUSE) }
            noteSent(count)
            return count
        } catch {
            attempt.failure = self.error(error.code, error.message, phase: .file, errno: error.errno)
            return Int(CURL_READFUNC_ABORT)
        }
    }

    /// Called when a connection exists and the request is about to be sent; false to abort.
    ///
    /// libcurl calls it twice if a kept connection ended before any response. It rewinds, and so calls the seek
    /// callback, only if bytes of the body were sent; the head alone may have been all that the server waited for.
    private func mayBeSent() -> Bool {
        guard !attempt.isBegun || mayRepeat || head.isIdempotent else {
            attempt.failure = error(
                .connectionLost, "the connection ended without an answer, and the request must not be sent twice",
                phase: .send)
            return false
        }
        if let trust = work.trust, !isTrusted(by: trust) { return false }
        attempt.isBegun = true
        return true
    }

    /// Rewinds the body when libcurl finds a kept connection dead.
    ///
    /// It must fail if repeating could do harm.
    private func seek(to offset: Int64, from origin: Int32) -> Int32 {
        guard mayRepeat, origin == SEEK_SET, let source, source.seek(to: offset) else { return CURL_SEEKFUNC_FAIL }
        attempt.replays += 1
        attempt.bodySent = nil
        meter.begin(attempt: attempt.number + attempt.replays, expectedToSend: source.length, at: .now)
        return CURL_SEEKFUNC_OK
    }

    private func count(sent: Int64, received: Int64, expected: Int64) {
        let attempt = attempt
        // Called often before there is anything of the response.
        if attempt.headBytes > 0, !attempt.isAnnounced { announceResponse(sent: sent) }
        guard sent != attempt.sent || received != attempt.received else { return }
        attempt.sent = sent
        attempt.received = received
        let now = Moment.now
        attempt.lastActivity = now
        if attempt.bodySent == nil, let source, source.length > 0, sent >= source.length { attempt.bodySent = .fine }
        let before = attempt.continuedAt
        let whole = expected > 0 ? expected + before : 0
        if meter.update(sent: sent, received: received + before, expectedToReceive: whole, at: now) {
            task.publish(meter.progress)
        }
    }
}
