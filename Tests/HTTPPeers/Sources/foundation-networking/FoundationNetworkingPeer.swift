import Foundation
import FoundationNetworking

/// `put FILE URL [COUNT]`, all at once, and `get URL COUNT TASKS` by FoundationNetworking.
@main
struct FoundationNetworkingPeer {
    static func main() async throws {
        let arguments = CommandLine.arguments
        switch (arguments.dropFirst().first, arguments.count) {
        case ("put", 4...5):
            let (path, url) = (arguments[2], address(arguments[3]))
            let session = URLSession(configuration: .ephemeral)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<(arguments.count > 4 ? Int(arguments[4]) ?? 0 : 1) {
                    group.addTask { try await put(path, url, session) }
                }
                try await group.waitForAll()
            }
        case ("get", 5): try await get(address(arguments[2]), Int(arguments[3]) ?? 0, Int(arguments[4]) ?? 0)
        default: print("usage: put FILE URL [COUNT] | get URL COUNT TASKS")
        }
    }

    private static func address(_ text: String) -> URL {
        guard let url = URL(string: text) else { preconditionFailure("no address: \(text)") }
        return url
    }

    private static func put(_ path: String, _ url: URL, _ session: URLSession) async throws {
        var request = URLRequest(url: url)
        request.httpMethod = "PUT"
        let (_, response) = try await session.upload(for: request, fromFile: URL(fileURLWithPath: path))
        print((response as? HTTPURLResponse)?.statusCode ?? 0)
    }

    private static func get(_ url: URL, _ count: Int, _ tasks: Int) async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = tasks
        let session = URLSession(configuration: configuration)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<tasks {
                group.addTask {
                    for _ in 0..<(count / tasks) {
                        let (data, _) = try await session.data(from: url)
                        precondition(data.count == 1024)
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
