import TestSupport

/// A new server with signed-in members.
struct Club: Sendable {
    let server: ServerProcess
    let members: [MemberMachine]
    let tokens: [String]
    let folder: String

    static func open(_ names: [String], in folder: String, arguments: [String] = []) async throws -> Club {
        let server = try await ServerProcess(data: folder + "/data", arguments: arguments)
        var members: [MemberMachine] = []
        var tokens: [String] = []
        for name in names {
            let token = try await server.addMember(name)
            let member = MemberMachine(name, in: folder)
            try await member.byteclub("login", server.url, "--token-stdin", input: Array((token + "\n").utf8))
                .succeeded()
            members.append(member)
            tokens.append(token)
        }
        return Club(server: server, members: members, tokens: tokens, folder: folder)
    }

    /// Seconds of processor time that the server has used so far.
    var processorTime: Double { server.process.map { ProcessorTime.seconds(of: $0.pid) } ?? 0 }

    func close() async { await server.stop() }
}
