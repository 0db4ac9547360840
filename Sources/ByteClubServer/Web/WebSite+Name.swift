import ByteClubCore
import HTTPTypes

extension WebSite {
    /// Names the club, or takes its name away when the field is empty; who typed what cannot be a name types again.
    func nameClub(_ visit: Visit, _ member: Member) async throws -> Response {
        if settings.clubName != nil {
            throw APIError(403, "The server's setting 'name' names the club; a page cannot change it.")
        }
        let name: String?
        do {
            name = try ClubName.read(visit["club"] ?? "")
        } catch {
            return try await members(visit, member, nameProblem: error.message)
        }
        try await store.setClubName(name)
        return redirect("/members")
    }

    /// The field for the club's name; nil where the server's setting names the club.
    func nameField(_ visit: Visit, problem: String? = nil) -> (typed: String, problem: String?)? {
        if settings.clubName != nil { return nil }
        // A link may not fill the field in.
        let typed = visit.request.method == .post ? visit["club"] : nil
        return (typed ?? store.clubName ?? "", problem)
    }
}
