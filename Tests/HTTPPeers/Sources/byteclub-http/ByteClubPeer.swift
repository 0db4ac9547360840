import ByteClubHTTP
import HTTPTypes

/// `put FILE URL [COUNT [CA]]` and `get URL COUNT TASKS` by ByteClubHTTP, in a program that does nothing else.
@main
struct ByteClubPeer {
    static func main() async throws {
        Session.prepare()
        let arguments = CommandLine.arguments
        switch (arguments.dropFirst().first, arguments.count) {
        case ("put", 4...6):
            let count = arguments.count > 4 ? Int(arguments[4]) ?? 0 : 1
            try await put(arguments[2], arguments[3], count, authority: arguments.count > 5 ? arguments[5] : nil)
        case ("get", 5): try await get(arguments[2], Int(arguments[3]) ?? 0, Int(arguments[4]) ?? 0)
        default: print("usage: put FILE URL [COUNT [CA]] | get URL COUNT TASKS")
        }
    }

    private static func put(_ path: String, _ url: String, _ count: Int, authority: String?) async throws {
        var configuration = SessionConfiguration.ephemeral
        configuration.certificateAuthorityFile = authority
        let session = try Session(configuration: configuration)
        let request = try HTTPRequest(.put, url: url)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count {
                group.addTask {
                    let (_, response) = try await session.upload(for: request, from: .file(path: path)) { _ in }
                    print(response.status.code)
                }
            }
            try await group.waitForAll()
        }
        await session.finishTasksAndInvalidate()
    }

    private static func get(_ url: String, _ count: Int, _ tasks: Int) async throws {
        var configuration = SessionConfiguration.ephemeral
        configuration.maximumTasksPerHost = tasks
        let session = try Session(configuration: configuration)
        let request = try HTTPRequest(url: url)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<tasks {
                group.addTask {
                    for _ in 0..<(count / tasks) {
                        let (bytes, response) = try await session.data(for: request)
                        precondition(response.status == .ok && bytes.count == 1024)
                    }
                }
            }
            try await group.waitForAll()
        }
        await session.finishTasksAndInvalidate()
    }
}
