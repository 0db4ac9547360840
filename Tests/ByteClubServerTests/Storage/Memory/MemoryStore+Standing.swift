import ByteClubCore

@testable import ByteClubServer

extension MemoryStore {
    func standingVersion() async throws -> Int64 { try query { $0.statistics.commits.changes } }

    func lapsed(_ standings: Set<Standing>) async throws -> Set<Standing> {
        let now = now.seconds
        return try query { club in
            standings.filter { standing in
                let uid: Int64? =
                    switch standing {
                    case .member(let uid): uid
                    case .device(let token): club.accesses.first { $0.hash == Secret.hash(token) }?.member
                    case .session(let secret): club.sessions.find(secret, at: now)?.value
                    case .link(let purpose, let secret):
                        club.links.first { $0.secret == secret && $0.purpose == purpose }?.member
                    }
                return uid.flatMap { club.member($0) }?.isDisabled ?? true
            }
        }
    }
}
