/// A place in a photo that leads to another photo or note: a line of the photo's caption note.
///
///     at 90,-5: [to the hut](hut.jpg)
///
/// The numbers are degrees right of the panorama's middle and above its horizon. The target is relative to the photo's
/// folder, written as in Markdown.
public struct HotSpot: Hashable, Sendable {
    /// The most spots that a photo shows.
    public static let most = 100

    /// Degrees right of the panorama's middle, -180 to 180.
    public let yaw: Double
    /// Degrees above the horizon, -90 to 90.
    public let pitch: Double
    /// The words that are shown; empty where the target's name says enough.
    public let text: String
    /// The target as it is written.
    public let target: String

    private static let start = "at "
    private static let view = "#view="

    /// Creates a spot that leads from a photo to a file; directions are rounded to a tenth of a degree.
    public init(yaw: Double, pitch: Double, text: String, to file: RemotePath, from photo: RemotePath) {
        self.yaw = Self.tenths(Self.turned(yaw))
        self.pitch = Self.tenths(min(max(pitch, -90), 90))
        self.text = String(String.UnicodeScalarView(text.unicodeScalars.map { Self.isPlain($0) ? $0 : " " }))
        target = Self.address(of: file, from: photo)
    }

    /// Reads a line; nil when it is not a spot.
    public init?(line: some StringProtocol) {
        var line = Substring(line)
        while let last = line.last, last == " " || last == "\t" { line.removeLast() }
        guard line.hasPrefix(Self.start), line.utf8.count <= 2048, line.last == ")",
            let colon = line.firstIndex(of: ":"), let middle = line[colon...].firstRange(of: "](")
        else { return nil }
        let numbers = line[..<colon].dropFirst(Self.start.count).split(
            separator: ",", omittingEmptySubsequences: false)
        let label = line[line.index(after: colon)..<middle.lowerBound].drop { $0 == " " }
        guard numbers.count == 2, let yaw = Self.degrees(numbers[0], limit: 360),
            let pitch = Self.degrees(numbers[1], limit: 90), label.first == "["
        else { return nil }
        var target = line[middle.upperBound...].dropLast()
        if target.first == "<", target.last == ">" { target = target.dropFirst().dropLast() }
        self.yaw = Self.turned(yaw)
        self.pitch = pitch
        text = String(label.dropFirst())
        self.target = String(target)
    }

    /// The line in a note.
    public var line: String { "\(Self.start)\(Self.text(yaw)),\(Self.text(pitch)): [\(text)](\(target))" }

    /// The file that it leads to from a photo; nil for one outside of the club's folder that holds the photo, and for
    /// what is no path, as an address of another site.
    public func path(from photo: RemotePath) -> RemotePath? {
        Self.decoded(Self.parts(of: target).path).flatMap { Self.file($0, beside: photo) }
    }

    /// The file at a path relative to a photo's folder, without escapes; nil as for ``path(from:)``.
    public static func file(_ written: String, beside photo: RemotePath) -> RemotePath? {
        guard !written.isEmpty, !written.hasPrefix("/"), !written.contains(where: { ":\\".contains($0) }) else {
            return nil
        }
        var folder = photo.string.split(separator: "/").dropLast().map(String.init)
        // A file at the top has no folder that it may not leave.
        let top = min(folder.count, 1)
        for part in written.split(separator: "/") where part != "." {
            if part != ".." {
                folder.append(String(part))
            } else if folder.count > top {
                folder.removeLast()
            } else {
                return nil
            }
        }
        return try? RemotePath("/" + folder.joined(separator: "/"))
    }

    /// The view with which the target is to be opened, as in `90,0,60`; nil when the line names none.
    public var openingView: String? {
        Self.parts(of: target).view.flatMap { view in
            view.utf8.count <= 40 && view.allSatisfy { $0.isASCII && ($0.isNumber || "-.,".contains($0)) }
                ? String(view) : nil
        }
    }

    private static func parts(of target: String) -> (path: Substring, view: Substring?) {
        guard let mark = target.firstRange(of: view) else { return (target[...], nil) }
        return (target[..<mark.lowerBound], target[mark.upperBound...])
    }

    private static func address(of file: RemotePath, from photo: RemotePath) -> String {
        var (there, here) = (file.string.split(separator: "/")[...], photo.string.split(separator: "/").dropLast())
        while there.count > 1, let next = here.first, next == there.first {
            (there, here) = (there.dropFirst(), here.dropFirst())
        }
        let parts = here.map { _ in ".." } + there.map(encoded)
        return parts.joined(separator: "/")
    }

    /// A name as Markdown takes it in an address, readable for people.
    private static func encoded(_ name: Substring) -> String {
        name.unicodeScalars.map { scalar in
            let isSafe = scalar.value > 0x20 && scalar.value != 0x7F && !"()<>%#:\\".unicodeScalars.contains(scalar)
            if isSafe { return String(scalar) }
            return String(scalar).utf8.map { ($0 < 16 ? "%0" : "%") + String($0, radix: 16, uppercase: true) }.joined()
        }.joined()
    }

    /// An address without its escapes; nil when one is malformed or the result is no UTF-8.
    static func decoded(_ address: Substring) -> String? {
        var (bytes, rest) = ([UInt8](), Array(address.utf8)[...])
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2)
            guard digits.count == 2, digits.first != UInt8(ascii: "+"), digits.first != UInt8(ascii: "-"),
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        !"[]".unicodeScalars.contains(scalar) && scalar.value >= 0x20
            && ![0x7F, 0x85, 0x2028, 0x2029].contains(scalar.value)
    }

    private static func degrees(_ text: Substring, limit: Double) -> Double? {
        let text = text.drop { $0 == " " }
        guard (1...12).contains(text.utf8.count), text.utf8.contains(where: { (48...57).contains($0) }),
            text.utf8.allSatisfy({ (48...57).contains($0) || $0 == 45 || $0 == 43 || $0 == 46 }),
            let number = Double(text), abs(number) <= limit
        else { return nil }
        return number
    }

    private static func turned(_ yaw: Double) -> Double {
        abs(yaw) <= 180 ? yaw : yaw.isFinite ? yaw - 360 * (yaw / 360).rounded() : 0
    }

    private static func tenths(_ value: Double) -> Double { value.isFinite ? (value * 10).rounded() / 10 : 0 }

    private static func text(_ value: Double) -> String {
        value == value.rounded() ? String(Int(value)) : "\(value)"
    }
}
