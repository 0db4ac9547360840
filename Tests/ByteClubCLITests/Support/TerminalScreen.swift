/// The screen of a terminal after a text with carriage returns.
struct TerminalScreen {
    private(set) var lines: [String] = []

    init(_ text: String) {
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            var cells: [Character] = []
            var column = 0
            for character in line {
                if character == "\r" {
                    column = 0
                } else {
                    if column < cells.count { cells[column] = character } else { cells.append(character) }
                    column += 1
                }
            }
            while cells.last == " " { cells.removeLast() }
            lines.append(String(cells))
        }
    }
}
