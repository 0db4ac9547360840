import ByteClubCore
import NIOCore

extension SettingSource {
    /// A whole number within limits; nil when it is not set.
    func number(_ name: SettingName, in range: ClosedRange<Int64>) throws(CommandFailure) -> Int64? {
        guard let text = text(name) else { return nil }
        guard let value = Int64(text), range.contains(value) else {
            throw refusal(name, expected: "a whole number from \(range.lowerBound) to \(range.upperBound)", got: text)
        }
        return value
    }

    /// A whole number within limits, or what it is when it is not set.
    func number(
        _ name: SettingName, in range: ClosedRange<Int64>, default fallback: Int64
    ) throws(CommandFailure) -> Int64 {
        try number(name, in: range) ?? fallback
    }

    /// A number of bytes, such as `10G`; nil when it is not set.
    func bytes(_ name: SettingName) throws(CommandFailure) -> Int64? {
        guard let text = text(name) else { return nil }
        if let value = Int64(text), value >= 0 { return value }
        guard let value = HumanSize.read(text) else {
            throw refusal(name, expected: "a number of bytes, such as 500M or 10G", got: text)
        }
        return value
    }

    /// A number of seconds, fractions allowed.
    func seconds(_ name: SettingName, default fallback: TimeAmount) throws(CommandFailure) -> TimeAmount {
        guard let text = text(name) else { return fallback }
        guard let value = Double(text), value >= 0.1, value <= 86_400 else {
            throw refusal(name, expected: "a number of seconds from 0.1 to 86400", got: text)
        }
        return .milliseconds(Int64(value * 1000))
    }

    /// `true` or `false`.
    func bool(_ name: SettingName) throws(CommandFailure) -> Bool {
        switch text(name) {
        case nil, "false"?: return false
        case "true"?: return true
        case let text?: throw refusal(name, expected: "true or false", got: text)
        }
    }

    /// One of a list of words, or what it is when it is not set.
    func word<Value: RawRepresentable & CaseIterable>(
        _ name: SettingName, default fallback: Value
    ) throws(CommandFailure) -> Value where Value.RawValue == String {
        try word(name) ?? fallback
    }

    /// One of a list of words; nil when it is not set.
    func word<Value: RawRepresentable & CaseIterable>(
        _ name: SettingName
    ) throws(CommandFailure) -> Value? where Value.RawValue == String {
        guard let text = text(name) else { return nil }
        guard let value = Value(rawValue: text) else {
            let words = Value.allCases.map(\.rawValue).joined(separator: ", ")
            throw refusal(name, expected: "one of: \(words)", got: text)
        }
        return value
    }

    /// `HOST:PORT`.
    func address(_ name: SettingName) throws(CommandFailure) -> ListenAddress? {
        guard let text = text(name) else { return nil }
        guard let address = ListenAddress(text) else { throw refusal(name, expected: "HOST:PORT", got: text) }
        return address
    }

    /// Addresses and ranges of them.
    func ranges(_ name: SettingName) throws(CommandFailure) -> [AddressRange] {
        var ranges: [AddressRange] = []
        for part in (text(name) ?? "").split(whereSeparator: { $0 == "," || $0 == " " }) {
            guard let range = AddressRange(part) else {
                throw refusal(name, expected: "addresses such as 127.0.0.1 or 10.0.0.0/8", got: String(part))
            }
            ranges.append(range)
        }
        return ranges
    }
}
