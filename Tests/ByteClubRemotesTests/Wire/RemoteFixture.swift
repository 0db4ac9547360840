import ByteClubCore
import ByteClubHTTP
import ByteClubRemotes
import TestSupport
import Testing

/// A remote and the scripted server that it talks to.
func withRemote<Value>(
    _ script: @escaping ScriptedServer.Script,
    _ work: (CoreAPIv1Remote, ScriptedServer) async throws -> Value
) async throws -> Value {
    let server = try ScriptedServer(script)
    var configuration = CoreAPIv1Remote.sessionConfiguration(token: "TOKEN")
    configuration.retryPolicy.firstDelay = .milliseconds(1)
    configuration.timeoutForRequest = .seconds(10)
    let session = try Session(configuration: configuration, name: "test")
    let result: Result<Value, any Error>
    do {
        let remote = try CoreAPIv1Remote(origin: server.origin, api: session)
        result = .success(try await work(remote, server))
    } catch {
        result = .failure(error)
    }
    await session.invalidateAndCancel()
    server.stop()
    return try result.get()
}

/// Expects a failure of one kind and returns it.
@discardableResult
func expectFailure<Value>(
    _ code: RemoteError.Code, sourceLocation: SourceLocation = #_sourceLocation,
    _ work: () async throws -> Value
) async -> RemoteError? {
    do {
        let value = try await work()
        Issue.record("expected \(code), got \(value)", sourceLocation: sourceLocation)
    } catch let error as RemoteError {
        #expect(error.code == code, "\(error.message)", sourceLocation: sourceLocation)
        #expect(!error.message.isEmpty && !error.message.contains("\n"), sourceLocation: sourceLocation)
        return error
    } catch {
        Issue.record("expected \(code), got \(error)", sourceLocation: sourceLocation)
    }
    return nil
}

/// The wire's metadata of a file.
func fileJSON(_ path: String, _ bytes: [UInt8], revision: Int64 = 5, hash: ContentHash? = nil) -> String {
    """
    {"path": "\(path)", "is_dir": false, "bytes": \(bytes.count), "size": "x", "rev": "\(Revision.number(revision))",
    "revision": \(revision), "modified": "Tue, 06 Aug 2013 09:15:00 +0000", "icon": "page_white", "root": "dropbox",
    "thumb_exists": false, "content_hash": "\(hash ?? ContentHasher.hash(bytes))", "unknown": [1, {"a": null}]}
    """
}

func metadataField(_ path: String, _ bytes: [UInt8], hash: ContentHash? = nil) -> String {
    "X-Dropbox-Metadata: " + fileJSON(path, bytes, hash: hash).split(separator: "\n").joined(separator: " ")
}
