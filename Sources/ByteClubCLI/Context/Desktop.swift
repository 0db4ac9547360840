import Glibc

/// The person's desktop, which shows notices by notify-send(1).
struct Desktop: Sendable {
    /// Shows a notice, and returns when it was handed over.
    ///
    /// Nothing in the text is markup.
    var show: @Sendable (_ title: String, _ text: String) async -> Void

    /// The desktop of the session; nil without a session bus or without notify-send.
    static func find(_ environment: [String: String]) -> Desktop? {
        guard environment["DBUS_SESSION_BUS_ADDRESS"]?.isEmpty == false else { return nil }
        let folders = (environment["PATH"] ?? "").split(separator: ":").filter { $0.hasPrefix("/") }
        guard folders.contains(where: { unsafe access($0 + "/notify-send", X_OK) == 0 }) else { return nil }
        return Desktop { title, text in
            _ = try? await BlockingWork.run {
                let process = try ShellCommand.start(
                    "notify-send", "--app-name=byteclub", "--icon=image-x-generic", "--", title, escaped(text),
                    detached: true)
                var status: Int32 = 0
                while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
            }
        }
    }

    /// A text in which no desktop finds markup.
    static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}
