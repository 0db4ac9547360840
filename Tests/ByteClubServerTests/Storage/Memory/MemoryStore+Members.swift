import ByteClubCore
import FoundationEssentials

@testable import ByteClubServer

extension MemoryStore {
    func addMember(name: String, role: Role?, oauth1: Bool) async throws -> NewMember {
        let token = Secret.text(bytes: 32)
        let now = now
        return try change { club in
            let member = try club.addMember(name, role: role, at: now)
            club.letIn(token, member: member.uid, app: "", name: "", at: now)
            guard oauth1 else {
                return NewMember(name: name, token: token, uid: member.uid, role: member.role, oauth1: nil)
            }
            guard let app = club.apps.first(where: { $0.name == App.oauth1Name }) else {
                throw StorageError(.badMember, "the app '\(App.oauth1Name)' was removed, so it gets no keys")
            }
            let keys = club.letInOAuth1(member, app, at: now)
            return NewMember(name: name, token: token, uid: member.uid, role: member.role, oauth1: keys)
        }
    }

    func members() async throws -> [Member] { try query { $0.people.map(\.member) } }

    func name(ofMember uid: Int64) async throws -> String? { try query { $0.name(uid) } }

    func removeMember(name: String, evenTheLast: Bool) async throws {
        try changeMember(name, orLeavingNobody: evenTheLast) { club, place in
            let gone = club.people[place].member
            club.people[place] = MemoryClub.Person(
                member: Member(uid: gone.uid, name: gone.name, created: gone.created, role: gone.role, isDisabled: true)
            )
            club.shutOut(gone.uid)
            club.sessions.remove { $0 == gone.uid }
            club.invitations.remove { $0.inviter == gone.uid }
            club.links.removeAll { $0.member == gone.uid }
        }
    }

    func setRole(_ role: Role, ofMember name: String) async throws {
        try changeMember(name) { club, place in
            let uid = club.people[place].member.uid
            club.people[place].member.role = role
            if role < .owner { club.invitations.remove { $0.inviter == uid } }
            if role == .owner { club.invitations.remove { $0.inviter == Invitation.byNobody } }
            if role < .editor { club.links.removeAll { $0.member == uid && $0.purpose == .share } }
        }
    }

    func setPassword(
        _ hash: PasswordHash, ofMember name: String, replacing known: ReplacedPassword, shuttingOutDevices: Bool
    ) async throws -> Bool {
        try changeMember(name) { club, place in
            if case .exactly(let known, let owner) = known {
                guard club.people[place].password == known, owner.map(club.isStill) ?? true else { return false }
            }
            let uid = club.people[place].member.uid
            club.people[place].password = hash
            club.sessions.remove { $0 == uid }
            // What was let in but has not fetched its token yet is let in no more, either.
            if shuttingOutDevices { club.shutOut(uid) }
            return true
        }
    }

    /// Changes a member; the club does not lose its last owner by it, unless that one is alone and it was asked for.
    private func changeMember<T: Sendable>(
        _ name: String, orLeavingNobody leavesNobody: Bool = false,
        _ body: (inout MemoryClub, _ place: Int) throws -> T
    ) throws -> T {
        try change { club in
            guard let place = club.place(ofMember: name) else {
                throw StorageError.noMember(name)
            }
            let wasOwner = club.people[place].member.role == .owner
            let result = try body(&club, place)
            let left = club.people.lazy.map(\.member).filter { !$0.isDisabled }
            if wasOwner, !left.contains(where: { $0.role == .owner }), !(leavesNobody && left.isEmpty) {
                throw StorageError.lastOwner(name)
            }
            return result
        }
    }

    func credentials(ofMember name: String) async throws -> (member: Member, password: PasswordHash?)? {
        try query { club in
            club.place(ofMember: name).map { (club.people[$0].member, club.people[$0].password) }
        }
    }

    func addInvitation(role: Role, lifetime: Int64, by inviter: Int64) async throws -> String {
        let (secret, now) = (Secret.text(bytes: 16), now.seconds)
        let invited = MemoryClub.Invited(role: role, inviter: inviter)
        try change { club in
            if inviter > 0, club.member(inviter).map({ $0.isDisabled || $0.role != .owner }) ?? true {
                throw StorageError.noInviter
            }
            club.invitations.add(invited, secret, for: lifetime, at: now)
        }
        return secret
    }

    func addOwnerInvitation(
        lifetime: Int64, secret: @Sendable (_ expires: Int64) -> String
    ) async throws -> (secret: String, expires: APIDate)? {
        let now = now.seconds
        let secret = secret(now + lifetime)
        let invited = MemoryClub.Invited(role: .owner, inviter: Invitation.byNobody)
        return try change { club in
            if club.people.contains(where: { !$0.member.isDisabled && $0.member.role == .owner }) { return nil }
            club.invitations.add(invited, secret, for: lifetime, at: now)
            return (secret, APIDate(seconds: now + lifetime))
        }
    }

    func invitations() async throws -> [OpenInvitation] {
        let now = now.seconds
        return try query { club in
            club.invitations.all(at: now).map { row in
                OpenInvitation(
                    id: OpenInvitation.id(row.hash),
                    invitation: Invitation(role: row.value.role, expires: APIDate(seconds: row.expires)),
                    inviter: club.member(row.value.inviter)?.name)
            }
        }
    }

    func removeInvitation(id: String) async throws -> Bool {
        let now = now.seconds
        return try change { club in
            let found = club.invitations.all(at: now).filter { OpenInvitation.id($0.hash) == id }
            for row in found { club.invitations.remove(hash: row.hash) }
            return !found.isEmpty
        }
    }

    func invitation(_ secret: String) async throws -> Invitation? {
        let now = now.seconds
        return try query { club in
            club.invitations.find(secret, at: now).map {
                Invitation(role: $0.value.role, expires: APIDate(seconds: $0.expires))
            }
        }
    }

    func redeemInvitation(_ secret: String, name: String, password: PasswordHash) async throws -> Member? {
        let now = now
        return try change { club in
            guard let invited = club.invitations.find(secret, at: now.seconds)?.value else { return nil }
            club.invitations.remove(secret)
            return try club.addMember(name, role: invited.role, password: password, at: now)
        }
    }
}

extension MemoryClub {
    /// Whether an owner has neither changed nor gone.
    fileprivate func isStill(_ owner: OwnerState) -> Bool {
        people.contains {
            $0.member.uid == owner.uid && !$0.member.isDisabled && $0.member.role == .owner
                && $0.password == owner.password
        }
    }

    /// Adds a member, who becomes the owner where there is none, unless another role is given.
    fileprivate mutating func addMember(
        _ name: String, role: Role?, password: PasswordHash? = nil, at now: APIDate
    ) throws -> Member {
        let present = people.filter { !$0.member.isDisabled }
        try MemberName.check(name, besides: present.map(\.member.name))
        let usual: Role = present.contains { $0.member.role == .owner } ? .editor : .owner
        let member = Member(
            uid: Int64(people.count + 1), name: name, created: now, role: role ?? usual, isDisabled: false)
        people.append(Person(member: member, password: password))
        if member.role == .owner { invitations.remove { $0.inviter == Invitation.byNobody } }
        return member
    }

    /// Kills a member's tokens, and what was to become tokens.
    fileprivate mutating func shutOut(_ uid: Int64) {
        accesses.removeAll { $0.member == uid }
        requestTokens.remove { $0.member == uid }
        codes.remove { $0.member == uid }
    }
}
