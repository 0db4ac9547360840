import ByteClubCore
import Testing

@testable import ByteClubServer

extension ClubStoreConformance {
    static let members = [
        ClubStoreConformance("the first member is the owner, others are editors, and numbers are never used again") {
            run in
            let ann = try await run.add("Ann")
            let ben = try await run.add("Ben")
            let eve = try await run.add("Eve", .viewer)
            #expect(try await run.store.members().map(\.role) == [.owner, .editor, .viewer])
            #expect([ann.uid, ben.uid, eve.uid] == [1, 2, 3])
            try await run.store.removeMember(name: "eve")
            #expect(try await run.add("Eve").uid == 4)
            #expect(try await run.store.members().map(\.isDisabled) == [false, false, true, false])
        },
        ClubStoreConformance("versions name the members who made them, also those who were removed") { run in
            let (ann, ben) = (try await run.add("Ann"), try await run.add("Ben"))
            try await run.put("/a.md", [1], by: ann.uid)
            try await run.put("/a.md", [2], by: ben.uid)
            try await run.store.removeMember(name: "Ben")
            try await run.add("Ben")
            let path = try RemotePath("/a.md")
            let versions = try await run.store.read { try $0.revisions(path, limit: 9) }
            #expect(versions.map(\.modifier?.displayName) == ["Ben", "Ann"])
            #expect(versions.map(\.modifier?.uid) == [ben.uid, ann.uid])
            let (page, _) = try await run.store.journal(after: nil, limits: JournalLimits(entries: 9))
            #expect(page.entries.map(\.authorName) == ["Ben"])
            #expect(try await run.store.name(ofMember: ben.uid) == "Ben")
            #expect(try await run.store.name(ofMember: 9) == nil)
        },
        ClubStoreConformance("no two members have names that look alike, whatever their letters are made of") { run in
            try await run.add("Ann Bell")
            for name in ["ann bell", "Ann\u{A0}Bell", "Ann  Bell", "ＡＮＮ Bell"] {
                await run.refused(.nameTaken) { try await run.add(name) }
            }
            for name in ["", " Ann", "Ann\u{200B}", "../x", "a/b", "a\\b", ".", ".."] {
                await run.refused(.badMember) { try await run.add(name) }
            }
            #expect(try await run.store.members().count == 1)
        },
        ClubStoreConformance("a token names its member until the member or the device is removed") { run in
            try await run.add("Ann")
            let ben = try await run.add("Ben")
            #expect(try await run.store.member(forToken: ben.token)?.uid == ben.uid)
            #expect(try await run.store.member(forToken: "0") == nil)
            let token = try await run.store.addDevice(member: ben.uid, app: App.byteclub.key, name: "laptop")
            #expect(try await run.store.member(forToken: token)?.name == "Ben")
            let devices = try await run.store.devices(of: ben.uid)
            #expect(devices.map(\.title) == ["ByteClub on laptop", "Token from the server"])
            let laptop = try #require(devices.first).id
            #expect(try await !run.store.removeDevice(laptop, of: 1))
            #expect(try await run.store.removeDevice(laptop, of: ben.uid))
            #expect(try await !run.store.removeDevice(laptop, of: ben.uid))
            #expect(try await run.store.member(forToken: token) == nil)
            try await run.store.removeMember(name: "Ben")
            #expect(try await run.store.member(forToken: ben.token) == nil)
            #expect(try await run.store.devices(of: ben.uid) == [])
            await run.refused(.noMember) { _ = try await run.store.addDevice(member: ben.uid, app: "", name: "") }
            #expect(try await run.store.devices(of: ben.uid) == [])
        },
        ClubStoreConformance("the device that holds a token is shut out by it, and is seen to the day") { run in
            let ann = try await run.add("Ann")
            let made = run.clock.now
            run.clock.advance(3 * 86_400)
            _ = try await run.store.member(forToken: ann.token)
            let device = try #require(try await run.store.devices(of: 1).first)
            #expect(device.created == made && device.seen == run.clock.now)
            try await run.store.removeDevice(holding: ann.token)
            #expect(try await run.store.devices(of: 1) == [])
        },
        ClubStoreConformance("what let somebody in lapses as soon as it is gone, and the accounts' version says so") {
            run in
            try await run.add("Ann")
            let ben = try await run.add("Ben")
            let file = try await run.put("/a.md", [1])
            let member = try #require(try await run.store.members().last)
            let link = try await run.store.link(.share, to: file, by: ben.uid, lifetime: nil)
            let session = try await run.store.addWebSession(member: ben.uid, lifetime: 60)
            let laptop = try await run.store.addDevice(member: ben.uid, app: App.byteclub.key, name: "laptop")
            let all: Set<Standing> = [
                .member(ben.uid), .device(token: ben.token), .device(token: laptop), .session(session),
                .link(.share, link.secret),
            ]
            #expect(try await run.store.lapsed(all) == [])
            #expect(try await run.store.lapsed([.member(9), .session(laptop)]).count == 2)
            #expect(try await run.store.lapsed([.link(.media, link.secret)]).count == 1)
            var version = try await run.store.standingVersion()
            var gone: Set<Standing> = []
            func went(_ standing: Standing) async throws {
                gone.insert(standing)
                #expect(try await run.store.lapsed(all) == gone)
                let now = try await run.store.standingVersion()
                #expect(now != version)
                version = now
            }
            try await run.store.removeDevice(holding: laptop)
            try await went(.device(token: laptop))
            try await run.store.removeWebSession(session)
            try await went(.session(session))
            #expect(try await run.store.removeLink(link.id, for: member))
            try await went(.link(.share, link.secret))
            try await run.store.removeMember(name: "Ben")
            gone.insert(.member(ben.uid))
            try await went(.device(token: ben.token))
        },
        ClubStoreConformance("members never remain without an owner, and the last one may go") { run in
            try await run.add("Ann")
            try await run.add("Ben")
            await run.refused(.lastOwner) { try await run.store.setRole(.viewer, ofMember: "Ann") }
            await run.refused(.lastOwner) { try await run.store.removeMember(name: "Ann") }
            #expect(try await run.store.members().map(\.role) == [.owner, .editor])
            try await run.store.setRole(.owner, ofMember: "Ben")
            try await run.store.setRole(.editor, ofMember: "Ann")
            try await run.store.removeMember(name: "Ann")
            await run.refused(.lastOwner) { try await run.store.removeMember(name: "Ben") }
            await run.refused(.lastOwner) { try await run.store.setRole(.editor, ofMember: "Ben") }
            try await run.store.removeMember(name: "Ben", evenTheLast: true)
            #expect(try await run.store.members().allSatisfy(\.isDisabled))
            await run.refused(.noMember) { try await run.store.removeMember(name: "Ben") }
            await run.refused(.noMember) { try await run.store.setRole(.owner, ofMember: "Nobody") }
        },
        ClubStoreConformance("of two last owners who go or are demoted at the same moment, one stays") { run in
            for round in 0..<40 {
                for name in ["Ann", "Ben"] where try await run.store.credentials(ofMember: name) == nil {
                    try await run.add(name, .owner)
                }
                let names = round.isMultiple(of: 2) ? ["Ann", "Ben"] : ["Ben", "Ann"]
                let isRemoval = round % 4 < 2
                let store = run.store
                let refusals = await withTaskGroup(of: StorageError.Code?.self) { group in
                    for name in names {
                        group.addTask {
                            do {
                                if isRemoval { try await store.removeMember(name: name) }
                                if !isRemoval { try await store.setRole(.viewer, ofMember: name) }
                                return nil
                            } catch { return (error as? StorageError)?.code }
                        }
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                #expect(refusals.compactMap(\.self) == [.lastOwner], "round \(round)")
                let owners = try await store.members().filter { !$0.isDisabled && $0.role == .owner }
                #expect(owners.count == 1, "round \(round)")
                for name in names where !isRemoval { try await store.setRole(.owner, ofMember: name) }
            }
        },
        ClubStoreConformance("a password for which an owner vouches is set while that owner stays the same") {
            run in
            try await run.add("Ann")
            try await run.add("Ben", .owner)
            try await run.add("Eve")
            let (one, two) = (try password("a"), try password("b"))
            let isSet = { (owner: OwnerState) async throws -> Bool in
                try await run.setPassword(one, ofMember: "Eve", vouchedBy: owner)
            }
            #expect(try await isSet(OwnerState(uid: 2, password: nil)))
            #expect(try await !isSet(OwnerState(uid: 2, password: one)))
            try await run.store.setPassword(two, ofMember: "Ben")
            #expect(try await !isSet(OwnerState(uid: 2, password: nil)))
            #expect(try await isSet(OwnerState(uid: 2, password: two)))
            try await run.store.setRole(.editor, ofMember: "Ben")
            #expect(try await !isSet(OwnerState(uid: 2, password: two)))
            try await run.store.setRole(.owner, ofMember: "Ben")
            try await run.store.removeMember(name: "Ben")
            #expect(try await !isSet(OwnerState(uid: 2, password: two)))
            #expect(try await !isSet(OwnerState(uid: 2, password: nil)))
            #expect(try await isSet(OwnerState(uid: 1, password: nil)))
        },
        ClubStoreConformance("a new password ends sessions in browsers, and all devices when that is asked for") {
            run in
            let ann = try await run.add("Ann")
            let (one, two, three) = (try password("a"), try password("b"), try password("c"))
            #expect(try await run.store.credentials(ofMember: "ANN")?.password == nil)
            #expect(try await run.store.addWebSession(member: 1, password: one, lifetime: 100) == nil)
            #expect(
                try await run.store.setPassword(
                    one, ofMember: "Ann", replacing: .exactly(nil), shuttingOutDevices: false))
            let session = try await run.store.addWebSession(member: 1, lifetime: 100)
            #expect(try await run.store.webSession(session)?.name == "Ann")
            let code = try await run.store.addCode(grant("byteclub", 1))
            try await run.store.setPassword(two, ofMember: "Ann")
            #expect(try await run.store.credentials(ofMember: "Ann")?.password == two)
            #expect(try await run.store.webSession(session) == nil)
            #expect(try await run.store.addWebSession(member: 1, password: one, lifetime: 100) == nil)
            #expect(try await run.store.member(forToken: ann.token) != nil)
            let isLate = try await !run.store.setPassword(
                one, ofMember: "Ann", replacing: .exactly(one), shuttingOutDevices: true)
            #expect(isLate, "it was changed since it was shown")
            let isFirst = try await run.store.setPassword(
                one, ofMember: "Ann", replacing: .exactly(nil), shuttingOutDevices: true)
            #expect(!isFirst, "there is one already")
            #expect(try await run.store.credentials(ofMember: "Ann")?.password == two)
            #expect(try await run.store.member(forToken: ann.token) != nil)
            #expect(
                try await run.store.setPassword(
                    one, ofMember: "Ann", replacing: .exactly(two), shuttingOutDevices: false))
            try await run.store.setPassword(three, ofMember: "Ann", shuttingOutDevices: true)
            #expect(try await run.store.member(forToken: ann.token) == nil)
            #expect(try await run.redeem(code) == nil)
            #expect(try await run.store.credentials(ofMember: "Nobody") == nil)
            await run.refused(.noMember) { try await run.store.setPassword(two, ofMember: "Nobody") }
        },
        ClubStoreConformance("an invitation makes one member, before it dies and while its maker is an owner") { run in
            try await run.add("Ann")
            try await run.add("Ben", .owner)
            let (secret, hash) = (
                try await run.store.addInvitation(role: .viewer, lifetime: 100, by: 1), try password("a")
            )
            let known = try await run.store.invitation(secret)
            #expect(known == Invitation(role: .viewer, expires: APIDate(seconds: run.clock.now.seconds + 100)))
            await run.refused(.nameTaken) {
                _ = try await run.store.redeemInvitation(secret, name: "ann", password: hash)
            }
            let eve = try await run.store.redeemInvitation(secret, name: "Eve", password: hash)
            #expect(eve?.role == .viewer)
            #expect(try await run.store.credentials(ofMember: "Eve")?.password == hash)
            #expect(try await run.store.redeemInvitation(secret, name: "Eva", password: hash) == nil)
            let late = try await run.store.addInvitation(role: .editor, lifetime: 100, by: 1)
            let withdrawn = try await run.store.addInvitation(role: .editor, lifetime: 1000, by: 2)
            run.clock.advance(100)
            #expect(try await run.store.invitation(late) == nil)
            #expect(try await run.store.invitation(withdrawn) != nil)
            try await run.store.setRole(.editor, ofMember: "Ben")
            #expect(try await run.store.invitation(withdrawn) == nil)
            await run.refused(.badMember) {
                _ = try await run.store.addInvitation(role: .owner, lifetime: 1000, by: 2)
            }
            try await run.store.setRole(.owner, ofMember: "Ben")
            try await run.store.removeMember(name: "Ben")
            await run.refused(.badMember) {
                _ = try await run.store.addInvitation(role: .owner, lifetime: 1000, by: 2)
            }
            #expect(try await run.store.invitations() == [])
        },
        ClubStoreConformance("a club without an owner gets one by the first of its invitations, and the others die") {
            run in
            let first = try #require(try await run.store.addOwnerInvitation(lifetime: 100))
            let second = try #require(try await run.store.addOwnerInvitation(lifetime: 100))
            #expect(try await run.store.invitation(first)?.role == .owner)
            #expect(try await !run.store.hasOwner())
            let ann = try await run.store.redeemInvitation(second, name: "Ann", password: try password("a"))
            #expect(ann?.role == .owner)
            #expect(try await run.store.hasOwner())
            #expect(try await run.store.invitation(first) == nil)
            #expect(try await run.store.addOwnerInvitation(lifetime: 100) == nil)
            try await run.store.removeMember(name: "Ann", evenTheLast: true)
            let third = try #require(try await run.store.addOwnerInvitation(lifetime: 100))
            try await run.add("Ben", .viewer)
            #expect(try await run.store.invitation(third) != nil)
            try await run.store.setRole(.owner, ofMember: "Ben")
            #expect(try await run.store.invitation(third) == nil)
        },
        ClubStoreConformance("open invitations are listed without their secrets, and taken back by name") { run in
            try await run.add("Ann")
            let late = try await run.store.addInvitation(role: .viewer, lifetime: 200, by: 1)
            let soon = try await run.store.addInvitation(role: .editor, lifetime: 100, by: Invitation.byHost)
            let dead = try await run.store.addInvitation(role: .owner, lifetime: 10, by: 1)
            run.clock.advance(10)
            let open = try await run.store.invitations()
            #expect(open.map(\.invitation.role) == [.editor, .viewer])
            #expect(open.map(\.inviter) == [nil, "Ann"])
            #expect(open.map(\.id) == [soon, late].map { OpenInvitation.id(Secret.hash($0)) })
            let id = try #require(open.first?.id)
            #expect(try await run.store.removeInvitation(id: id))
            #expect(try await !run.store.removeInvitation(id: id))
            #expect(try await run.store.invitation(soon) == nil)
            #expect(try await run.store.invitation(late) != nil)
            #expect(try await run.store.invitation(dead) == nil)
        },
    ]

    static let signIn = [
        ClubStoreConformance("a session in a browser lasts its time, and not beyond its member") { run in
            try await run.add("Ann")
            try await run.add("Ben")
            let known = try password("a")
            try await run.store.setPassword(known, ofMember: "Ben")
            let (one, two) = (
                try await run.store.addWebSession(member: 2, lifetime: 100),
                try await run.store.addWebSession(member: 2, lifetime: 1000)
            )
            #expect(try await run.store.webSession(one)?.name == "Ben")
            run.clock.advance(100)
            #expect(try await run.store.webSession(one) == nil)
            #expect(try await run.store.webSession(two)?.name == "Ben")
            try await run.store.setRole(.viewer, ofMember: "Ben")
            #expect(try await run.store.webSession(two)?.role == .viewer)
            let three = try await run.store.addWebSession(member: 2, lifetime: 1000)
            try await run.store.removeWebSession(three)
            #expect(try await run.store.webSession(three) == nil)
            try await run.store.removeMember(name: "Ben")
            #expect(try await run.store.webSession(two) == nil)
            #expect(try await run.store.addWebSession(member: 2, password: known, lifetime: 1000) == nil)
        },
        ClubStoreConformance("apps are listed by name, and an app that is removed takes its devices with it") { run in
            try await run.add("Ann")
            let (two, one) = (
                try await run.store.addApp(name: "Zwei", redirects: ["https://a.example/x", "http://127.0.0.1/"]),
                try await run.store.addApp(name: "Eins", redirects: [])
            )
            #expect(try await run.store.apps().filter { $0.name != App.oauth1Name } == [one, two])
            #expect(try await run.store.app(two.key) == two)
            #expect(try await run.store.app(App.byteclub.key) == .byteclub)
            #expect(try await run.store.app("nothing") == nil)
            let token = try await run.store.addDevice(member: 1, app: two.key, name: "")
            let code = try await run.store.addCode(grant(two.key, 1))
            #expect(try await run.store.removeApp(key: two.key))
            #expect(try await !run.store.removeApp(key: two.key))
            #expect(try await run.store.member(forToken: token) == nil)
            #expect(try await run.redeem(code) == nil)
        },
        ClubStoreConformance("a code becomes a token of its member once, within ten minutes") { run in
            try await run.add("Ann")
            let one = try await run.store.addCode(grant("byteclub", 1))
            let redeemed = try #require(try await run.store.redeemCode(one) { $0 == grant("byteclub", 1) })
            #expect(redeemed.grant == grant("byteclub", 1))
            #expect(try await run.store.member(forToken: redeemed.token)?.name == "Ann")
            #expect(try await run.store.devices(of: 1).first?.title == "ByteClub on phone")
            #expect(try await run.redeem(one) == nil)
            let late = try await run.store.addCode(grant("byteclub", 1))
            run.clock.advance(Grant.lifetime)
            #expect(try await run.redeem(late) == nil)
        },
        ClubStoreConformance("a code that is shown for something else, or of a member who is gone, lets nobody in") {
            run in
            try await run.add("Ann")
            let ben = try await run.add("Ben")
            let code = try await run.store.addCode(grant("byteclub", 1))
            #expect(try await run.store.redeemCode(code) { _ in false } == nil)
            #expect(try await run.redeem(code) == nil)
            #expect(try await run.store.devices(of: 1).count == 1)
            try await run.store.removeMember(name: "Ben")
            let late = try await run.store.addCode(grant("byteclub", ben.uid))
            #expect(try await run.redeem(late) == nil)
            #expect(try await run.store.devices(of: ben.uid) == [])
        },
        ClubStoreConformance("an OAuth 1 sign-in is approved once and exchanged once") { run in
            try await run.add("Ann")
            try await run.add("Ben")
            let app = try await run.store.addApp(name: "Old", redirects: [])
            let (token, secret) = try await run.store.addRequestToken(app: app.key)
            let found = try #require(try await run.store.requestToken(token))
            #expect(found.app == app && found.secret == secret)
            #expect(try await run.store.redeemRequestToken(token) == nil, "nobody has consented yet")
            #expect(try await run.store.approveRequestToken(token, by: 2))
            #expect(try await !run.store.approveRequestToken(token, by: 1))
            let keys = try #require(try await run.store.redeemRequestToken(token))
            #expect(keys.member.uid == 2 && keys.consumerKey == app.key)
            #expect(try await run.store.redeemRequestToken(token) == nil)
            #expect(try await run.store.requestToken(token) == nil)
            #expect(try await run.store.oauth1Credentials(consumerKey: app.key, token: keys.token) == keys)
            #expect(try await run.store.oauth1Credentials(consumerKey: "other", token: keys.token) == nil)
            #expect(try await run.store.member(forToken: keys.token) == nil, "a signed token is no bearer token")
            let late = try await run.store.addRequestToken(app: app.key).token
            run.clock.advance(Grant.requestLifetime)
            #expect(try await run.store.requestToken(late) == nil)
            #expect(try await !run.store.approveRequestToken(late, by: 1))
        },
        ClubStoreConformance("keys for OAuth 1 programs come with a new member when asked, and die with the member") {
            run in
            let plain = try await run.add("Ann")
            #expect(plain.oauth1 == nil)
            let added = try await run.store.addMember(name: "Ben", role: nil, oauth1: true)
            let keys = try #require(added.oauth1)
            let find = { try await run.store.oauth1Credentials(consumerKey: keys.consumerKey, token: keys.token) }
            #expect(try await find() == keys)
            try await run.store.removeMember(name: "Ben")
            #expect(try await find() == nil)
        },
        ClubStoreConformance("where the server was reached last is remembered") { run in
            #expect(try await run.store.publicURL() == nil)
            for url in ["http://a:1", "https://b"] { try await run.store.setPublicURL(url) }
            #expect(try await run.store.publicURL() == "https://b")
        },
        ClubStoreConformance("a club has the name that it was given last, or none") { run in
            #expect(run.store.clubName == nil)
            for name in ["Panorama Club", "Ridge & Co", nil, "Last"] {
                try await run.store.setClubName(name)
                #expect(run.store.clubName == name)
            }
        },
    ]

    private static func password(_ key: String) throws -> PasswordHash {
        try #require(PasswordHash(text: "scrypt$16384$8$5$00$\(key)"))
    }

    private static func grant(_ app: String, _ member: Int64) -> Grant {
        Grant(app: app, member: member, redirect: nil, challenge: "c", device: "phone")
    }
}

extension ClubStoreRun {
    /// Exchanges a code for a token, and gives what it stood for.
    func redeem(_ code: String) async throws -> Grant? { try await store.redeemCode(code) { _ in true }?.grant }

    /// Adds a member with a bearer token.
    @discardableResult
    func add(_ name: String, _ role: Role? = nil) async throws -> NewMember {
        try await store.addMember(name: name, role: role, oauth1: false)
    }

    /// Sets a member's password as a link does for which an owner vouches; false when the owner is not so any more.
    func setPassword(
        _ password: PasswordHash, ofMember name: String, vouchedBy owner: OwnerState
    ) async throws -> Bool {
        let known = try await store.credentials(ofMember: name)?.password
        return try await store.setPassword(
            password, ofMember: name, replacing: .exactly(known, vouchedBy: owner), shuttingOutDevices: false)
    }
}
