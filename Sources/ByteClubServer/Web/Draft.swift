import ByteClubCore
import HTTPTypes

/// A text that somebody edits on a page and that is not saved, and what it was made of.
struct Draft {
    /// The longest text that is edited on a page, in bytes; a form has room for it however it is encoded.
    static let limit = 20_000

    /// What was typed.
    var text: String
    /// The version that it was made of; empty when there was none.
    var revision: String
    /// Why it is not saved; nil where it was not sent yet.
    var problem: String?
    /// What somebody else has saved meanwhile.
    var theirs: String?
}

extension Visit {
    /// What was typed in a form of a note or a caption; nil for other requests.
    var typedText: String? {
        guard request.method == .post, ["/gallery", "/login"].contains(request.endpoint.name) else { return nil }
        return self["text"]
    }
}

extension WebSite {
    /// What was typed in a form of a page of ours; nil for other requests, and for one that another site may have made.
    func ownText(_ visit: Visit) -> String? {
        guard isForm(visit.request, visit, token: visit["csrf"]) || visit.request.isFromOwnPage else { return nil }
        return visit.typedText
    }

    /// Asks somebody to sign in whose session has ended over a form, and keeps what was typed; nil for other requests,
    /// and for one that another site may have made.
    func signInKeepingText(_ visit: Visit) -> Response? {
        guard visit.member == nil, visit.request.endpoint.name == "/gallery", ownText(visit) != nil else { return nil }
        return signInForm(
            visit, next: "/" + visit.request.rawPath.drop { $0 == "/" },
            problem: "You are signed out, and your text is not saved yet. Sign in to save it.")
    }

    /// The form again, with what was typed before somebody had to sign in; nil when nothing was.
    ///
    /// - Throws: As ``item(at:_:_:_:)``.
    func formAfterSignIn(_ visit: Visit, _ member: Member, at page: String) async throws -> Response? {
        guard let text = visit.typedText, page.hasPrefix("/gallery/"),
            let path = PercentEncoding.decode(page.dropFirst("/gallery".utf8.count), plusIsBlank: false)
                .flatMap({ try? RemotePath($0) })
        else { return nil }
        return try await item(
            at: path, visit, member,
            Draft(
                text: Self.lines(text), revision: visit["parent_rev"] ?? "",
                problem: "You are signed in again. This is not saved yet: save it now."))
    }
}
