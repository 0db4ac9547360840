import Glibc

/// The user's desktop, which shows notifications by notify-send(1).
struct Desktop: Sendable {
    /// Shows a notification, and returns after it was sent.
    ///
    /// The text is not interpreted as markup.
    var show: @Sendable (_ title: String, _ text: String) async -> Void

    /// The session's desktop; nil without a session bus or notify-send.
    static func find(_ environment: [String: String]) -> Desktop? {
        guard environment["DBUS_SESSION_BUS_ADDRESS"]?.isEmpty == false else { return nil }
        let folders = (environment["PATH"] ?? "").split(separator: ":").filter { $0.hasPrefix("/") }
        guard folders.contains(where: { unsafe access($0 + "/notify-send", X_OK) == 0 }) else { return nil }
        return Desktop { title, text in
            _ = try? await BlockingWork.run {
                let process = try ShellCommand.start(
                    "notify-send", "--app-name=byteclub", "--icon=image-x-generic", "--", title, escaped(text),
                    detached: true)
                _ = ShellCommand.end(of: process)
            }
        }
    }

    /// A text with its markup escaped.
    static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}

/// How to show a person a page.
struct Browser: Sendable {
    /// Opens a page and returns at once; false on failure.
    var open: @Sendable (_ url: String) -> Bool

    /// The browser for an environment; nil without a screen.
    ///
    /// `BROWSER` is used anywhere. The desktop's own is not used over SSH, since the user's screen is elsewhere.
    static func find(_ environment: [String: String]) -> Browser? {
        if let command = environment["BROWSER"], !command.isEmpty { return program(command) }
        let hasScreen = (environment["DISPLAY"] ?? environment["WAYLAND_DISPLAY"]) != nil
        let isRemote = environment["SSH_CONNECTION"] != nil
        guard hasScreen, !isRemote else { return nil }
        let directories = (environment["PATH"] ?? "").split(separator: ":")
        let isThere = directories.contains { unsafe access("\($0)/xdg-open", X_OK) == 0 }
        return isThere ? program("xdg-open") : nil
    }

    private static func program(_ command: String) -> Browser {
        Browser { url in (try? ShellCommand.start(command, url, detached: true)) != nil }
    }
}
