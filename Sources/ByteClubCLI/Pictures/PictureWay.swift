import ArgumentParser

/// How pictures are drawn in a terminal.
enum PictureWay: String, Sendable, Hashable, CaseIterable, ExpressibleByArgument {
    case kitty, iterm, blocks, none

    /// The way to draw, by the option `--as` before all else; nil when only a query to the terminal can show it.
    static func known(flag: PictureWay?, environment: [String: String], terminal: Terminal) -> PictureWay? {
        if let flag { return flag }
        let value = { (name: String) in environment[name] ?? "" }
        let (term, program) = (value("TERM"), value("TERM_PROGRAM"))
        guard terminal.isOutputTerminal, value("NO_COLOR").isEmpty, term != "dumb" else { return PictureWay.none }
        // Multiplexers redraw the screen themselves and drop pictures.
        if !value("TMUX").isEmpty || !value("STY").isEmpty || term.hasPrefix("tmux") || term.hasPrefix("screen") {
            return blocks(environment)
        }
        if !value("KITTY_WINDOW_ID").isEmpty || ["xterm-kitty", "xterm-ghostty"].contains(term) || program == "ghostty"
        {
            return .kitty
        }
        if ["iTerm.app", "WezTerm"].contains(program) || value("LC_TERMINAL") == "iTerm2"
            || !value("WEZTERM_PANE").isEmpty
        {
            return .iterm
        }
        // Over a slow line the answer would come after the timeout, and be read as keyboard input.
        let isFar = !value("SSH_CONNECTION").isEmpty || !value("SSH_TTY").isEmpty
        if term == "linux" || isFar || !terminal.isInputTerminal { return blocks(environment) }
        return nil
    }

    /// The way to draw after an answer to ``TerminalQuery/pictures``, which is empty when none came.
    static func told(by answer: [UInt8], environment: [String: String]) -> PictureWay {
        String(decoding: answer, as: UTF8.self).contains("_Gi=31;OK") ? .kitty : blocks(environment)
    }

    /// Half blocks where the locale is UTF-8, else nothing.
    private static func blocks(_ environment: [String: String]) -> PictureWay {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        let letters = locale.split(separator: ".").dropFirst().first?.lowercased() ?? "utf-8"
        return letters.hasPrefix("utf") ? .blocks : PictureWay.none
    }
}
