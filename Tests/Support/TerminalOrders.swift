/// What in the bytes that a program wrote a terminal would obey, turn or not know: controls but newline and tab, C1
/// controls, characters that turn the order of others, and bytes that are no UTF-8.
///
/// - Parameters:
///   - bytes: What was written.
///   - allowed: Controls that the program itself may use.
/// - Returns: The characters, each as its number.
public func ordersToTerminal(in bytes: [UInt8], allowing allowed: Set<Unicode.Scalar> = []) -> [String] {
    guard let text = String(validating: bytes, as: UTF8.self) else { return ["bytes that are no UTF-8"] }
    // A carriage return before a newline moves nothing that the newline does not move.
    var lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map(Array.init)
    for index in lines.indices.dropLast() where lines[index].last == "\r" { lines[index].removeLast() }
    return lines.joined().filter { scalar in
        switch scalar.value {
        case 0x09: false
        case 0..<0x20, 0x7F...0x9F, 0x2028...0x202E, 0x2066...0x2069: !allowed.contains(scalar)
        default: false
        }
    }.map { "U+" + String($0.value, radix: 16) }
}
