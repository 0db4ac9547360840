import Glibc

/// How to show a person a page.
struct Browser: Sendable {
    /// Opens a page and returns at once; false when it cannot.
    var open: @Sendable (_ url: String) -> Bool

    /// The browser that the environment names; nil when there is no screen to show it on.
    ///
    /// `BROWSER` names one anywhere. Otherwise the desktop's own is used, but not from a shell on another machine,
    /// whose person sits before another screen.
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
