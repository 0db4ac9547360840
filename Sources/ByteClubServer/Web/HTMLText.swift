import Mustache

/// How values are made fit for HTML, in elements and in quoted attributes.
///
/// It goes scalar by scalar: Mustache's own escaping looks at whole characters, and a quotation mark with an accent on
/// it is another character than a quotation mark, though a browser sees the mark.
struct HTMLText: MustacheContentType {
    private static let name = "ESCAPED"
    private static let isRegistered: Void = MustacheContentTypes.register(HTMLText(), named: name)

    /// A template in which every value between two braces is escaped this way.
    static func template(_ text: String) throws -> MustacheTemplate {
        isRegistered
        return try MustacheTemplate(string: "{{% CONTENT_TYPE:\(name)}}" + text)
    }

    func escapeText(_ text: String) -> String {
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
