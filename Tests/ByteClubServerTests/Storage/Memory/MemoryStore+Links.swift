import ByteClubCore
import TestSupport

@testable import ByteClubServer

extension MemoryStore {
    func link(
        _ purpose: Link.Purpose, to entry: FolderEntry, by member: Int64, _ terms: Link.Terms
    ) async throws -> Link {
        let now = now.seconds
        return try change { club in
            club.links.removeAll { $0.expires <= now }
            let known = club.links.lastIndex { row in
                row.node == entry.node && row.purpose == purpose && row.member == member
                    && (purpose != .media || row.revision == entry.revision && row.created > now - Link.mediaReuse)
            }
            let end = now + (terms.lifetime ?? purpose.lifetime)
            let row: MemoryClub.LinkRow
            if let known {
                if terms.lifetime != nil { club.links[known].expires = end }
                if let password = terms.password { club.links[known].password = password.hash }
                if let keepsLocation = terms.keepsLocation { club.links[known].keepsLocation = keepsLocation }
                row = club.links[known]
            } else {
                try checkCount(of: purpose, member, now: now, in: club)
                row = MemoryClub.LinkRow(
                    id: club.nextNumber(), secret: Secret.text(bytes: 16), purpose: purpose, member: member,
                    node: entry.node, revision: entry.revision, created: now, expires: end,
                    password: terms.password?.hash, keepsLocation: terms.keepsLocation ?? false)
                club.links.append(row)
            }
            guard let link = live(row, now, in: club)?.link else { throw StorageError.notFound(entry.path) }
            return link
        }
    }

    private func checkCount(of purpose: Link.Purpose, _ member: Int64, now: Int64, in club: MemoryClub) throws {
        let kept = club.links.filter { $0.member == member && $0.purpose == purpose }
        if kept.count >= Link.mostOfMember { throw Link.tooMany(until: kept.map(\.expires).min(), now: now) }
    }

    /// A link that works, with its entry as it is now.
    private func live(
        _ row: MemoryClub.LinkRow, _ now: Int64, in club: MemoryClub
    ) -> (link: Link, entry: FolderEntry)? {
        guard row.expires > now, let entry = club.folder.current(row.node), !entry.isDeleted,
            let maker = club.member(row.member), !maker.isDisabled, row.purpose != .share || maker.role >= .editor
        else { return nil }
        let link = Link(
            id: row.id, secret: row.secret, purpose: row.purpose, path: entry.path,
            created: APIDate(seconds: row.created),
            expires: APIDate(seconds: row.expires), member: maker.name, password: row.password,
            keepsLocation: row.keepsLocation)
        return (link, entry)
    }

    func link(_ purpose: Link.Purpose, secret: String) async throws -> Link? {
        let now = now
        return try query { club in
            club.links.first { $0.secret == secret && $0.purpose == purpose }
                .flatMap { live($0, now.seconds, in: club)?.link }
        }
    }

    func entry(_ purpose: Link.Purpose, secret: String, below: String) async throws -> FolderEntry? {
        let now = now
        return try query { club in
            guard let row = club.links.first(where: { $0.secret == secret && $0.purpose == purpose }),
                let entry = live(row, now.seconds, in: club)?.entry
            else { return nil }
            if purpose == .media {
                return club.folder.versions(after: row.revision - 1).first { $0.revision == row.revision }
            }
            if below.isEmpty { return entry }
            guard let path = try? RemotePath(entry.path.string + "/" + below) else { return nil }
            return try SharedFolder(state: club.folder, now: now, author: 0).live(path)
        }
    }

    func links(seenBy member: Member, _ purpose: Link.Purpose?, before: Int64, limit: Int) async throws -> [Link] {
        let now = now.seconds
        return try query { club in
            let seen = club.links.reversed().lazy.filter { row in
                row.id < before && (member.role == .owner || row.member == member.uid)
                    && (purpose.map { row.purpose == $0 } ?? (row.purpose != .copy))
            }
            return Array(seen.compactMap { self.live($0, now, in: club)?.link }.prefix(limit))
        }
    }

    func removeLink(_ id: Int64, for member: Member) async throws -> Bool {
        try change { club in
            let count = club.links.count
            club.links.removeAll { row in
                row.id == id && row.purpose != .copy && (member.role == .owner || row.member == member.uid)
            }
            return club.links.count < count
        }
    }
}
