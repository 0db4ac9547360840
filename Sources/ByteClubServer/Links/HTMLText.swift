/// Text made fit for HTML.
enum HTMLText {
    /// Escapes what has a meaning in elements and in quoted attributes.
    ///
    /// It goes scalar by scalar: Mustache's own escaping looks at whole characters, and a quotation mark with an accent
    /// on it is another character than a quotation mark, though a browser sees the mark.
    static func escape(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
