import ByteClubCore

extension WebSite {
    /// Whether nobody but this member owns the club.
    func isLastOwner(_ member: Member) async throws -> Bool {
        guard member.role == .owner else { return false }
        return try await !store.members().contains { !$0.isDisabled && $0.role == .owner && $0.uid != member.uid }
    }

    /// Removes the member who asks for it: tokens and sessions die, files stay.
    ///
    /// - Throws: ``StorageError`` `lastOwner` for the last owner, also where nobody else is left.
    func leave(_ visit: Visit, _ member: Member) async throws -> Response {
        try await store.removeMember(name: member.name)
        let stranger = Visit(
            request: visit.request, secret: visit.secret, member: nil,
            newCookie: cookie("", for: visit.request, lifetime: 0))
        return view(.left, (), stranger)
    }
}
