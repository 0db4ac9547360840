import ByteClubCore

extension WebSite {
    /// The form for the code that a program without a browser shows; a link of the program fills it in.
    func deviceForm(_ visit: Visit, _: Member) -> Response { deviceForm(visit, problem: nil) }

    private func deviceForm(_ visit: Visit, problem: String?) -> Response {
        let code = visit["code"].flatMap { $0.utf8.count <= 32 ? $0 : nil }
        return view(.device, (message: problem, code: code), visit, problem == nil ? 200 : 400)
    }

    /// Shows what asks by a code, or does what the member chose.
    func device(_ visit: Visit, _ member: Member) async throws -> Response {
        // Codes are short, so that each look at one counts, also a right one.
        if let wait = settings.signIns.guess(from: visit.request.client.address) { throw Self.tooMany(wait) }
        guard let code = visit["code"].flatMap(UserCode.init),
            let asker = signIns.asker(showing: code, at: settings.now())
        else { return unknownCode(visit) }
        switch visit["decision"] {
        case "allow":
            let grant = try await store.addCode(
                Grant(app: asker.app.key, member: member.uid, redirect: nil, challenge: nil, device: asker.device))
            guard signIns.answer(.allowed(grant: grant), to: code, at: settings.now()) else {
                return unknownCode(visit)
            }
        case "refuse":
            guard signIns.answer(.refused, to: code, at: settings.now()) else { return unknownCode(visit) }
        default:
            return form(
                app: asker.app, device: asker.device, visit, member, action: "/device",
                asker: (code.description, asker.address?.description ?? ""))
        }
        return done(asker.app, isAllowed: visit["decision"] == "allow", visit)
    }

    private func unknownCode(_ visit: Visit) -> Response {
        deviceForm(visit, problem: "No program is waiting for this code. Check it, or start again in the program.")
    }
}
