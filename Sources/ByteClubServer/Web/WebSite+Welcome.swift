import ByteClubCore

/// The card that greets a new member above the gallery.
struct Welcome: Sendable {
    /// Whether the member may add photos and notes.
    let mayWrite: Bool
    /// Whether the member may invite others.
    let mayInvite: Bool
}

extension WebSite {
    /// How long a card waits to be dismissed, in seconds.
    private static let welcomeLifetime: Int64 = 30 * 86_400

    /// The cookie with which a browser shows the card, until the member dismisses it.
    func welcomeCookie(for request: RoutedRequest) -> String {
        cookie("1", .welcome, for: request, lifetime: Self.welcomeLifetime)
    }

    /// The card; nil where it was dismissed, or never due.
    func welcome(_ visit: Visit, _ member: Member) -> Welcome? {
        value(of: .welcome, in: visit.request) != "1"
            ? nil : Welcome(mayWrite: member.role >= .editor, mayInvite: member.role == .owner)
    }

    /// Removes the card from the gallery in this browser.
    func dismissWelcome(_ visit: Visit, _: Member) -> Response {
        redirect("/gallery", cookies: [cookie("", .welcome, for: visit.request, lifetime: 0)])
    }
}
