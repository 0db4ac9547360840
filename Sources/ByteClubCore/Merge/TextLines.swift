/// Texts cut into lines, each line with its end, and equal lines of all the texts under one number.
struct TextLines {
    /// A text's bytes, the number of each of its lines, and where each line begins.
    struct Text {
        let bytes: [UInt8]
        private(set) var numbers: [Int32] = []
        /// The offset of each line in bytes, and the text's end.
        private(set) var starts: [Int] = [0]

        fileprivate init(_ bytes: [UInt8]) {
            self.bytes = bytes
            for (offset, byte) in bytes.enumerated() where byte == UInt8(ascii: "\n") { starts.append(offset + 1) }
            if starts.last != bytes.count { starts.append(bytes.count) }
        }

        fileprivate mutating func number(with table: inout Table) {
            numbers.reserveCapacity(starts.count - 1)
            for index in 0..<starts.count - 1 {
                numbers.append(table.number(of: bytes, from: starts[index], to: starts[index + 1]))
            }
        }

        /// The bytes of some of the lines.
        func bytes(ofLines lines: Range<Int>) -> ArraySlice<UInt8> {
            bytes[starts[lines.lowerBound]..<starts[lines.upperBound]]
        }
    }

    let base: Text
    let mine: Text
    let theirs: Text
    /// How many different lines there are.
    let count: Int

    init(base: [UInt8], mine: [UInt8], theirs: [UInt8]) {
        var texts = [base, mine, theirs].map(Text.init)
        var table = Table(lines: texts.reduce(0) { $0 + $1.starts.count })
        for index in texts.indices { texts[index].number(with: &table) }
        (self.base, self.mine, self.theirs) = (texts[0], texts[1], texts[2])
        count = table.count
    }
}

extension TextLines {
    /// Numbers lines in the order in which they are first seen; a hash table with open addresses.
    ///
    /// Each process seeds the hash differently, so that no text can be crafted to fill one slot.
    fileprivate struct Table {
        private var slots: [Int32]
        private var bytes: [UInt8] = []
        private var starts = [0]
        private var hashes: [Int] = []

        var count: Int { hashes.count }

        init(lines: Int) {
            var capacity = 16
            while capacity < lines * 2 { capacity *= 2 }
            slots = Array(repeating: -1, count: capacity)
        }

        mutating func number(of text: [UInt8], from start: Int, to end: Int) -> Int32 {
            var hasher = Hasher()
            unsafe text.withUnsafeBytes {
                unsafe hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: $0[start..<end]))
            }
            let hash = hasher.finalize()
            var slot = hash & (slots.count - 1)
            while slots[slot] >= 0 {
                let known = Int(slots[slot])
                if hashes[known] == hash, isLine(known, text, from: start, to: end) { return slots[slot] }
                slot = (slot + 1) & (slots.count - 1)
            }
            slots[slot] = Int32(hashes.count)
            hashes.append(hash)
            bytes += text[start..<end]
            starts.append(bytes.count)
            return slots[slot]
        }

        private func isLine(_ known: Int, _ text: [UInt8], from start: Int, to end: Int) -> Bool {
            let own = starts[known]
            guard starts[known + 1] - own == end - start else { return false }
            return (0..<end - start).allSatisfy { bytes[own + $0] == text[start + $0] }
        }
    }
}
