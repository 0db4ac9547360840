import ArgumentParser

/// How pictures are drawn in a terminal.
enum PictureWay: String, Sendable, Hashable, CaseIterable, ExpressibleByArgument {
    case kitty, iterm, sixel, blocks, none

    /// Decides how to draw, as far as that can be told without asking the terminal.
    ///
    /// - Parameters:
    ///   - flag: What the person asked for, which counts everywhere.
    ///   - environment: The environment's variables.
    ///   - terminal: The terminals at the other end.
    /// - Returns: How to draw; nil when the terminal should be asked.
    static func known(flag: PictureWay?, environment: [String: String], terminal: Terminal) -> PictureWay? {
        if let flag { return flag }
        let value = { (name: String) in environment[name] ?? "" }
        let (term, program) = (value("TERM"), value("TERM_PROGRAM"))
        guard terminal.isOutputTerminal, value("NO_COLOR").isEmpty, term != "dumb" else { return PictureWay.none }
        // These keep the screen themselves and pass no picture on.
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
        if term.hasPrefix("foot") || term.hasPrefix("mlterm") { return .sixel }
        // Over a slow line an answer would come after the wait for it, and be taken for keys.
        let isFar = !value("SSH_CONNECTION").isEmpty || !value("SSH_TTY").isEmpty
        if term == "linux" || isFar || !terminal.isInputTerminal { return blocks(environment) }
        return nil
    }

    /// How to draw on a terminal that has answered ``TerminalQuery/pictures`` so, or not at all.
    static func told(by answer: [UInt8], environment: [String: String]) -> PictureWay {
        if String(decoding: answer, as: UTF8.self).contains("_Gi=31;OK") { return .kitty }
        return TerminalQuery.attributes(answer)?.contains(4) == true ? .sixel : blocks(environment)
    }

    /// Half blocks, unless the terminal's letters are others than those of Unicode.
    private static func blocks(_ environment: [String: String]) -> PictureWay {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        let letters = locale.split(separator: ".").dropFirst().first?.lowercased() ?? "utf-8"
        return letters.hasPrefix("utf") ? .blocks : PictureWay.none
    }
}
