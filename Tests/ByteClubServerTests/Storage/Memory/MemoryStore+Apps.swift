import ByteClubCore

@testable import ByteClubServer

extension MemoryStore {
    func publicURL() async throws -> String? { try query { $0.publicURL } }

    func setPublicURL(_ url: String) async throws { try change { $0.publicURL = url } }

    func setClubName(_ name: String?) async throws { try change { $0.clubName = name } }

    func addApp(name: String, redirects: [String]) async throws -> App {
        let app = App(key: Secret.text(bytes: 8), secret: Secret.text(bytes: 16), name: name, redirects: redirects)
        try change { $0.apps.append(app) }
        return app
    }

    func apps() async throws -> [App] { try query { $0.apps.sorted { ($0.name, $0.key) < ($1.name, $1.key) } } }

    func removeApp(key: String) async throws -> Bool {
        try change { club in
            guard let place = club.apps.firstIndex(where: { $0.key == key }) else { return false }
            club.apps.remove(at: place)
            club.accesses.removeAll { $0.app == key }
            club.requestTokens.remove { $0.app == key }
            club.codes.remove { $0.app == key }
            return true
        }
    }

    func app(_ key: String) async throws -> App? { try query { $0.app(key) } }

    func addRequestToken(app: String) async throws -> (token: String, secret: String) {
        let (token, secret, now) = (Secret.text(bytes: 16), Secret.text(bytes: 16), now.seconds)
        let row = MemoryClub.RequestToken(secret: secret, app: app)
        try change { $0.requestTokens.add(row, token, for: Grant.requestLifetime, at: now) }
        return (token, secret)
    }

    func requestToken(_ token: String) async throws -> (app: App, secret: String)? {
        let now = now.seconds
        return try query { club in
            guard let found = club.requestTokens.find(token, at: now)?.value,
                let app = club.apps.first(where: { $0.key == found.app })
            else { return nil }
            return (app, found.secret)
        }
    }

    func approveRequestToken(_ token: String, by member: Int64) async throws -> Bool {
        let now = now.seconds
        return try change { club in
            guard var found = club.requestTokens.find(token, at: now)?.value, found.member == nil else { return false }
            found.member = member
            club.requestTokens.update(token, found)
            return true
        }
    }

    func redeemRequestToken(_ token: String) async throws -> OAuth1Credentials? {
        let now = now
        return try change { club in
            guard let found = club.requestTokens.find(token, at: now.seconds)?.value,
                let app = club.apps.first(where: { $0.key == found.app }),
                let member = found.member.flatMap(club.member), !member.isDisabled
            else { return nil }
            club.requestTokens.remove(token)
            return club.letInOAuth1(member, app, at: now)
        }
    }

    func addCode(_ grant: Grant) async throws -> String {
        let (code, now) = (Secret.text(bytes: 16), now.seconds)
        try change { $0.codes.add(grant, code, for: Grant.lifetime, at: now) }
        return code
    }

    func redeemCode(
        _ code: String, where isMeant: @escaping @Sendable (Grant) -> Bool
    ) async throws -> (grant: Grant, token: String)? {
        let (token, now) = (Secret.text(bytes: 32), now)
        return try change { club in
            guard let grant = club.codes.find(code, at: now.seconds)?.value else { return nil }
            club.codes.remove(code)
            guard isMeant(grant),
                club.letIn(token, member: grant.member, app: grant.app, name: grant.device, at: now)
            else { return nil }
            return (grant, token)
        }
    }
}
