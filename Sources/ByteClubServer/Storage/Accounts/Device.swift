import ByteClubCore

/// One program on one machine that a member has let in; each has a token of its own.
struct Device: Hashable, Sendable {
    /// The device's number, never used again.
    let id: Int64
    /// The key of the app; empty for a token that `members add` printed.
    let app: String
    /// What the app is called; nil when it was removed or never was one.
    let appName: String?
    /// What the device calls itself; may be empty.
    let name: String
    /// When it was let in.
    let created: APIDate
    /// When it was last seen, to the day.
    let seen: APIDate

    /// What people are shown.
    var title: String {
        switch (name.isEmpty, appName) {
        case (false, let app?): "\(app) on \(name)"
        case (false, nil): name
        case (true, let app?): app
        case (true, nil): "Token from the server"
        }
    }
}
