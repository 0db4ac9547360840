import ByteClubCore
import ByteClubFiles
import ByteClubHTTP
import ByteClubMedia
import Glibc
import Testing

@testable import ByteClubCLI

@Suite struct FailureTests {
    @Test(
        "each failure of a remote has its exit code",
        arguments: [
            (RemoteError.Code.badRequest, 65), (.badCursor, 76), (.unauthorized, 77), (.forbidden, 73), (.notFound, 66),
            (.conflict, 75), (.tooMany, 65), (.undecodable, 65), (.tooLarge, 65), (.rateLimited, 75),
            (.serverFault, 75), (.overQuota, 75), (.unreachable, 69), (.cancelled, 130), (.protocolViolation, 76),
            (.localFile, 74),
        ] as [(RemoteError.Code, Int32)])
    func remote(_ code: RemoteError.Code, _ status: Int32) {
        #expect(Failure(RemoteError(code, "why")).status.rawValue == status)
        #expect(Failure(SyncError(.remote(RemoteError(code, "why")), "why")).status.rawValue == status)
    }

    @Test(
        "each failure of a transfer has its exit code",
        arguments: [
            (TransferError.Code.cancelled, 130), (.timedOut, 69), (.cannotResolveHost, 69), (.cannotConnect, 69),
            (.connectionLost, 69), (.tls, 69), (.tooManyRedirects, 76), (.insecureRedirect, 76), (.fileChanged, 75),
            (.fileUnreadable, 66), (.cannotWriteFile, 74), (.bodyTooLarge, 65), (.badRequest, 65),
            (.sessionInvalid, 69), (.proxyRefused, 69), (.protocolViolation, 76), (.libraryMissing, 78), (.other, 76),
        ] as [(TransferError.Code, Int32)])
    func transfer(_ code: TransferError.Code, _ status: Int32) {
        #expect(Failure(TransferError(code, "why", url: "https://club.example/")).status.rawValue == status)
    }

    @Test("a proxy in the way is no reason to look at the server")
    func proxy() {
        var error = RemoteError(.unreachable, "the proxy http://p:3128 wants a user name and a password")
        #expect(Failure(error).message == error.message)
        error.isOfProxy = true
        #expect(Failure(error).message == "\(error.message); correct or unset the proxy setting")
        #expect(Failure(error).status == .unavailable)
    }

    @Test("a daemon that does not answer is no server that cannot be reached")
    func silentDaemon() {
        let failure = Failure(TransferError(.timedOut, "the daemon does not answer"))
        #expect(failure.status == .tryAgain && failure.message == "the daemon does not answer")
    }

    @Test(
        "each failure of syncing has its exit code",
        arguments: [
            (SyncError.Code.rootMissing, 66), (.rootReplaced, 66), (.configuration, 78), (.database, 74),
            (.alreadyRunning, 75), (.io, 74), (.cancelled, 130),
        ] as [(SyncError.Code, Int32)])
    func sync(_ code: SyncError.Code, _ status: Int32) {
        #expect(Failure(SyncError(code, "why")).status.rawValue == status)
    }

    @Test("failures of paths, media and files have their exit codes")
    func others() {
        #expect(Failure(PathError("why")).status == .badData)
        #expect(Failure(MediaError(.notAJPEG, "why")).status == .badData)
        #expect(Failure(MediaError(.io, "why")).status == .inputOutput)
        #expect(Failure(FileFailure("read", "x", ENOENT)).status == .noInput)
        #expect(Failure(FileFailure("read", "x", EACCES)).status == .noInput)
        #expect(Failure(FileFailure("create", "x", EACCES)).status == .cannotCreate)
        #expect(Failure(FileFailure("create", "x", ENOSPC)).status == .inputOutput)
        #expect(Failure(FileFailure("write", "x", ENOSPC)).status == .inputOutput)
        #expect(Failure(CancellationError()).status == .interrupted)
    }

    @Test("a message from elsewhere stays on one line and cannot speak to the terminal")
    func oneLine() {
        #expect(Failure.line("a\nb\u{1B}]0;x\u{7}\r") == "a b^[]0;x^G^M")
    }

    @Test("a batch tells its one reason, or 75 when something was done")
    func batch() {
        var outcome = BatchOutcome<Int>()
        #expect(outcome.status == .success)
        outcome.failures = [Failure(.badData, "a"), Failure(.badData, "b")]
        #expect(outcome.status == .badData)
        outcome.failures.append(Failure(.noInput, "c"))
        #expect(outcome.status == .tryAgain)
        outcome.failures = [Failure(.badData, "a")]
        outcome.done = [1]
        #expect(outcome.status == .tryAgain)
    }
}
