/// Random numbers that a seed repeats (SplitMix64).
struct Seeded: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return Self.mixed(state)
    }

    /// A generator of its own for a part of the run.
    mutating func split() -> Seeded { Seeded(seed: next()) }

    /// True once in `count` times.
    mutating func one(in count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }

    mutating func pick<Element>(_ choices: [Element]) -> Element {
        choices[Int.random(in: 0..<choices.count, using: &self)]
    }

    static func mixed(_ value: UInt64) -> UInt64 {
        var value = value
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}

/// A checksum of bytes that come in pieces (FNV-1a, 64 bits).
struct Checksum {
    private(set) var count = 0
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func add(_ bytes: some Sequence<UInt8>) {
        for byte in bytes {
            value = (value ^ UInt64(byte)) &* 0x100_0000_01B3
            count += 1
        }
    }

    /// What a server says of a body that it got.
    var text: String { "whole \(count) \(value)" }

    static func text(of bytes: [UInt8]) -> String {
        var sum = Checksum()
        sum.add(bytes)
        return sum.text
    }
}
