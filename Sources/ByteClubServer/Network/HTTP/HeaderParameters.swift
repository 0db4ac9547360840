/// The `; name=value` parameters of a header's value (RFC 9110 section 5.6.6), values quoted or not.
struct HeaderParameters {
    private var values: [String: String] = [:]

    /// Reads what follows the first semicolon; what is malformed is left out.
    init(_ header: some StringProtocol) {
        var name = ""
        var value = ""
        var (isValue, isQuoted, isEscaped, isFirst) = (false, false, false, true)
        for character in String(header) + ";" {
            if isQuoted {
                if isEscaped || (character != "\\" && character != "\"") {
                    value.append(character)
                    isEscaped = false
                } else if character == "\\" {
                    isEscaped = true
                } else {
                    isQuoted = false
                }
            } else if character == ";" {
                if !isFirst, isValue, values[name] == nil { values[name] = value }
                (name, value, isValue, isFirst) = ("", "", false, false)
            } else if character == "=", !isValue {
                isValue = true
            } else if character == "\"", isValue {
                isQuoted = true
            } else if character != " ", character != "\t" {
                if isValue { value.append(character) } else { name += character.lowercased() }
            }
        }
    }

    /// A parameter's value; names are in lower case.
    subscript(_ name: String) -> String? { values[name] }
}
