import ByteClubCore
import TestSupport
import Testing

/// A real server with members on their own machines, all in a folder that is gone afterwards.
final class Club: Sendable {
    let folder: TemporaryDirectory
    let server: ServerProcess
    /// Sees and writes what the club has, without the programs under test.
    let api: ClubAPI
    /// What the members' mirrors speak.
    let wire: Wire

    private init(_ folder: TemporaryDirectory, _ server: ServerProcess, _ api: ClubAPI, _ wire: Wire) {
        self.folder = folder
        self.server = server
        self.api = api
        self.wire = wire
    }

    // The server must be gone before its folder is.
    deinit { server.process?.kill9() }

    /// Starts a server, which is killed after its lifetime; with a certificate it speaks TLS, and members are told to
    /// trust that one.
    static func start(
        _ wire: Wire = .usual, data: String? = nil, certificate: (file: String, key: String)? = nil,
        lifetime: Duration = .seconds(900)
    ) async throws -> Club {
        let folder = try TemporaryDirectory()
        let arguments = certificate.map { ["--tls-certificate", $0.file, "--tls-key", $0.key] } ?? []
        let server = try await ServerProcess(
            data: data ?? folder.path + "/data", arguments: arguments, lifetime: lifetime)
        let token = try await server.addMember("warden")
        return Club(folder, server, try ClubAPI(server: server, token: token, authority: certificate?.file), wire)
    }

    /// Makes a member and logs them in, at another address than the server's when one is given.
    func member(_ name: String, through url: String? = nil) async throws -> MemberMachine {
        let token = try await server.addMember(name)
        let member = machine(name)
        let login = try await member.byteclub(
            "login", url ?? server.url, "--token-stdin", input: Array((token + "\n").utf8))
        try #require(login.status == 0, "\(login)")
        return member
    }

    /// A machine on which nobody has logged in.
    func machine(_ name: String) -> MemberMachine {
        var machine = MemberMachine(name, in: folder.path)
        machine.environment.merge(wire.environment) { _, new in new }
        return machine
    }
}
