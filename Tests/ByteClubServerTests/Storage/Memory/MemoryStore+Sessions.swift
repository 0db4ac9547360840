import ByteClubCore
import FoundationEssentials

@testable import ByteClubServer

extension MemoryStore {
    private static let day: Int64 = 86_400

    func member(forToken token: String) async throws -> Member? {
        let hash = Secret.hash(token)
        return try seeing { club in
            guard let place = club.accesses.firstIndex(where: { $0.hash == hash && $0.secret == nil }),
                let member = club.member(club.accesses[place].member)
            else { return nil }
            return (place, member)
        }
    }

    func oauth1Credentials(consumerKey: String, token: String) async throws -> OAuth1Credentials? {
        let hash = Secret.hash(token)
        return try seeing { club in
            guard let place = club.accesses.firstIndex(where: { $0.hash == hash && $0.app == consumerKey }),
                let secret = club.accesses[place].secret, let member = club.member(club.accesses[place].member),
                let app = club.apps.first(where: { $0.key == consumerKey }), let consumerSecret = app.secret
            else { return nil }
            let keys = OAuth1Credentials(
                consumerKey: consumerKey, consumerSecret: consumerSecret, token: token, tokenSecret: secret,
                member: member)
            return (place, keys)
        }
    }

    /// Finds what a program shows, and notes the day on which it was last seen.
    private func seeing<T: Sendable>(_ find: (MemoryClub) -> (place: Int, found: T)?) throws -> T? {
        let now = now
        let known = try query { club in
            find(club).map {
                (found: $0.found, isStale: now.seconds - club.accesses[$0.place].seen.seconds >= Self.day)
            }
        }
        if known?.isStale == true {
            try change { club in
                if let place = find(club)?.place { club.accesses[place].seen = now }
            }
        }
        return known?.found
    }

    func devices(of member: Int64) async throws -> [Device] {
        try query { club in
            club.accesses.reversed().filter { $0.member == member }.map { access in
                Device(
                    id: access.id, app: access.app, appName: club.app(access.app)?.name, name: access.name,
                    created: access.created, seen: access.seen)
            }
        }
    }

    func addDevice(member: Int64, app: String, name: String) async throws -> String {
        let (token, now) = (Secret.text(bytes: 32), now)
        let isIn = try change { $0.letIn(token, member: member, app: app, name: name, at: now) }
        guard isIn else { throw StorageError.memberGone }
        return token
    }

    func removeDevice(_ id: Int64, of member: Int64) async throws -> Bool {
        try removeDevices { $0.id == id && $0.member == member }
    }

    func removeDevice(holding token: String) async throws {
        let hash = Secret.hash(token)
        _ = try removeDevices { $0.hash == hash }
    }

    private func removeDevices(_ condition: (MemoryClub.Access) -> Bool) throws -> Bool {
        try change { club in
            let count = club.accesses.count
            club.accesses.removeAll(where: condition)
            return club.accesses.count < count
        }
    }

    func addWebSession(member: Int64, password: PasswordHash, lifetime: Int64) async throws -> String? {
        let (secret, now) = (Secret.text(bytes: 32), now.seconds)
        return try change { club in
            let isKnown = club.people.contains {
                $0.member.uid == member && !$0.member.isDisabled && $0.password == password
            }
            guard isKnown else { return nil }
            club.sessions.add(member, secret, for: lifetime, at: now)
            return secret
        }
    }

    func webSession(_ secret: String) async throws -> Member? {
        let now = now.seconds
        return try query { club in
            club.sessions.find(secret, at: now).flatMap { club.member($0.value) }.flatMap { $0.isDisabled ? nil : $0 }
        }
    }

    func removeWebSession(_ secret: String) async throws { try change { $0.sessions.remove(secret) } }
}

extension MemoryClub {
    /// An app, the built-in one included.
    func app(_ key: String) -> App? { key == App.byteclub.key ? .byteclub : apps.first { $0.key == key } }

    /// Lets a program in with a token; false when the member is gone.
    @discardableResult
    mutating func letIn(
        _ token: String, secret: String? = nil, member: Int64, app: String, name: String, at now: APIDate
    ) -> Bool {
        guard self.member(member)?.isDisabled == false else { return false }
        accesses.append(
            Access(
                id: nextNumber(), hash: Secret.hash(token), secret: secret, member: member, app: app, name: name,
                created: now, seen: now))
        return true
    }

    /// Lets an OAuth 1 program in with new keys.
    mutating func letInOAuth1(_ member: Member, _ app: App, at now: APIDate) -> OAuth1Credentials {
        let (token, secret) = (Secret.text(bytes: 16), Secret.text(bytes: 16))
        letIn(token, secret: secret, member: member.uid, app: app.key, name: "", at: now)
        return OAuth1Credentials(
            consumerKey: app.key, consumerSecret: app.secret ?? "", token: token, tokenSecret: secret, member: member)
    }
}
