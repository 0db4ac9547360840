import ByteClubCore

extension WebSite {
    /// Shows who is signed in, and what has access in that member's name.
    func account(_ visit: Visit, _ member: Member) async throws -> Answer {
        let devices = try await store.devices(of: member.uid).map { device in
            [
                "id": "\(device.id)", "title": device.title, "created": Self.day(device.created),
                "seen": Self.day(device.seen),
            ]
        }
        return view("account", ["role": member.role.word, "devices": devices, "hasDevices": !devices.isEmpty], visit)
    }

    /// Shuts a device out.
    func revoke(_ visit: Visit, _ member: Member) async throws -> Answer {
        guard let id = try visit.call.parameters.integer("device", in: 1...Int64.max),
            try await store.removeDevice(id, of: member.uid)
        else { throw APIError(404, "You have no such device.") }
        return redirect("/")
    }

    /// The form for a new password.
    func passwordForm(_ visit: Visit, _ member: Member) -> Answer { view("password", [:], visit) }

    /// Sets a new password for who knows the old one, and ends all other sessions.
    func changePassword(_ visit: Visit, _ member: Member) async throws -> Answer {
        if let wait = nameLimit.take("uid \(member.uid)") { throw Self.tooMany(wait) }
        let known = try await store.credentials(ofMember: member.name)
        guard try await PasswordHash.verify(visit["password"] ?? "", against: known?.password) else {
            return view("password", ["message": "The old password is wrong."], visit, 403)
        }
        try await store.setPassword(try await PasswordHash.make(visit["new"] ?? ""), ofMember: member.name)
        return try await begin(member, visit, then: "/")
    }

    /// The day of a date, as in `06 Aug 2013`.
    static func day(_ date: APIDate) -> String { String(date.description.dropFirst(5).prefix(11)) }
}
