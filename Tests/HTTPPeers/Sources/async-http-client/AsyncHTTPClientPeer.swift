import AsyncHTTPClient
import NIOCore
import _NIOFileSystem

/// `put FILE URL [COUNT]`, all at once, and `get URL COUNT TASKS` by AsyncHTTPClient.
@main
struct AsyncHTTPClientPeer {
    static func main() async throws {
        let arguments = CommandLine.arguments
        switch (arguments.dropFirst().first, arguments.count) {
        case ("put", 4...5):
            let (path, url) = (arguments[2], arguments[3])
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<(arguments.count > 4 ? Int(arguments[4]) ?? 0 : 1) {
                    group.addTask { try await put(path, url) }
                }
                try await group.waitForAll()
            }
        case ("get", 5): try await get(arguments[2], Int(arguments[3]) ?? 0, Int(arguments[4]) ?? 0)
        default: print("usage: put FILE URL [COUNT] | get URL COUNT TASKS")
        }
    }

    private static func put(_ path: String, _ url: String) async throws {
        let status = try await FileSystem.shared.withFileHandle(forReadingAt: FilePath(path)) { file in
            let size = try await file.info().size
            var request = HTTPClientRequest(url: url)
            request.method = .PUT
            request.body = .stream(file.readChunks(chunkLength: .kibibytes(256)), length: .known(size))
            return try await HTTPClient.shared.execute(request, timeout: .hours(1)).status
        }
        print(status.code)
    }

    private static func get(_ url: String, _ count: Int, _ tasks: Int) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<tasks {
                group.addTask {
                    for _ in 0..<(count / tasks) {
                        let answer = try await HTTPClient.shared.execute(
                            HTTPClientRequest(url: url), timeout: .minutes(1))
                        let body = try await answer.body.collect(upTo: 1 << 20)
                        precondition(body.readableBytes == 1024)
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
