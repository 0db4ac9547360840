import TestSupport

/// The tags of a page, read as a browser reads them, to see whether a value has become markup.
struct PageMarkup {
    /// What a page may not have, in words.
    private(set) var faults: [String] = []

    /// Attributes with which a page would do more than show something, besides those that begin with `on`.
    private static let forbidden: Set<String> = ["style", "srcdoc", "ping", "background", "nonce", "http-equiv", "is"]
    private static let elements: Set<String> = [
        "a", "article", "aside", "b", "bdi", "blockquote", "body", "br", "button", "code", "datalist", "dd", "del",
        "details", "dialog", "div", "dl", "dt", "em", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2",
        "h3", "h4", "h5", "h6", "head", "header", "hr", "html", "img", "input", "ins", "kbd", "label", "legend", "li",
        "link", "main", "menu", "meta", "nav", "noscript", "ol", "option", "output", "p", "pre", "progress", "s",
        "script", "section", "select", "small", "span", "strong", "summary", "svg", "table", "tbody", "td", "template",
        "textarea", "tfoot", "th", "thead", "time", "title", "tr", "ul", "use", "canvas", "optgroup", "i", "search",
    ]

    /// Reads a page.
    init(_ page: String) {
        var rest = Array(page.unicodeScalars)[...]
        func word(_ text: inout ArraySlice<Unicode.Scalar>, until ends: String) -> String {
            let part = text.prefix { !ends.unicodeScalars.contains($0) }
            text = text[part.endIndex...]
            return String(String.UnicodeScalarView(part))
        }
        while let open = rest.firstIndex(of: "<") {
            rest = rest[(open + 1)...]
            if rest.first == "!" {
                if word(&rest, until: ">").lowercased() != "!doctype html" { faults.append("a declaration") }
                continue
            }
            let isEnd = rest.first == "/"
            if isEnd { rest = rest.dropFirst() }
            let name = word(&rest, until: " \n>/")
            if !Self.elements.contains(name) { faults.append("the element \(name.prefix(40))") }
            var isFromServer = isEnd || name != "script"
            while let next = rest.first, next != ">" {
                if next == " " || next == "\n" || next == "/" {
                    rest = rest.dropFirst()
                    continue
                }
                let attribute = word(&rest, until: "=> \n/")
                let isPlain = attribute.unicodeScalars.allSatisfy {
                    $0 == "-" || ("A"..."Z" ~= $0) || ("a"..."z" ~= $0)
                }
                if !isPlain || attribute.hasPrefix("on") || Self.forbidden.contains(attribute.lowercased()) {
                    faults.append("the attribute \(attribute.prefix(40)) of \(name)")
                }
                isFromServer = isFromServer || attribute == "src"
                guard rest.first == "=" else { continue }
                rest = rest.dropFirst()
                guard rest.first == "\"" else {
                    faults.append("an attribute \(attribute) without quotation marks")
                    break
                }
                rest = rest.dropFirst()
                let value = word(&rest, until: "\"")
                rest = rest.dropFirst()
                if value.contains("<") { faults.append("a mark in the attribute \(attribute)") }
                check(value, of: attribute, in: name)
            }
            if !isFromServer { faults.append("a script within the page") }
        }
    }

    private mutating func check(_ value: String, of attribute: String, in element: String) {
        switch attribute {
        case "href", "src", "action", "formaction":
            let isOurs = value.hasPrefix("/") && !value.hasPrefix("//") || value.hasPrefix("?") || value.hasPrefix("#")
            // Links may lead elsewhere, nothing else may.
            let isElsewhere =
                element == "a" && attribute == "href"
                && ["https://", "http://", "mailto:"].contains { value.lowercased().hasPrefix($0) }
            let isOwnAddress = element == "link" && value.hasPrefix("http://127.0.0.1:")
            if !isOurs, !isElsewhere, !isOwnAddress { faults.append("the address \(value.prefix(60)) of \(element)") }
            if element == "script", !value.hasPrefix("/assets/") { faults.append("the script \(value.prefix(60))") }
        case "srcset":
            for part in value.split(separator: ",") where !part.drop(while: { $0 == " " }).hasPrefix("/") {
                faults.append("the picture \(part.prefix(60))")
            }
        default: break
        }
    }
}
