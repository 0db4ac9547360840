/// What changed from one sequence of numbered lines to another.
///
/// The search needs linear space. Lines that only one side has are set aside before it, since they are changes anyway.
struct LineDifference {
    /// Lines of the old sequence that lines of the new one stand for; one of the two ranges may be empty.
    struct Hunk: Equatable {
        var old: Range<Int>
        var new: Range<Int>
    }

    /// How to choose among equivalent descriptions of a change.
    enum Method: CaseIterable {
        /// Lines that are there once are kept first, so that an empty line does not stand for another paragraph's.
        case anchored
        /// The least lines are changed, as Myers (1986) finds them.
        case shortest
    }

    /// The step limit of a search, some hundredths of a second; beyond it there is no merge.
    static let budget = 6_000_000

    private var old: [Int32]
    private var new: [Int32]
    private var isOldKept: [Bool]
    private var isNewKept: [Bool]
    private var oldPlaces: [Int] = []
    private var newPlaces: [Int] = []
    private var forward: [Int] = []
    private var backward: [Int] = []
    private var steps = 0
    private var places: [Places] = []

    /// The changes from `old` to `new` in order, with at least one kept line between two of them.
    ///
    /// `count` is one more than the highest number of a line. The answer is nil when the texts differ in so many ways
    /// that the search would take long.
    static func hunks(from old: [Int32], to new: [Int32], count: Int, _ method: Method) -> [Hunk]? {
        var prefix = 0
        while prefix < min(old.count, new.count), old[prefix] == new[prefix] { prefix += 1 }
        var suffix = 0
        while suffix < min(old.count, new.count) - prefix, old[old.count - 1 - suffix] == new[new.count - 1 - suffix] {
            suffix += 1
        }
        var difference = LineDifference(old, new, prefix: prefix, suffix: suffix, count: count)
        let levels = method == .anchored ? 32 : 0
        guard difference.compare(0..<difference.old.count, 0..<difference.new.count, levels) else { return nil }
        return difference.hunks
    }

    private init(_ old: [Int32], _ new: [Int32], prefix: Int, suffix: Int, count: Int) {
        isOldKept = Array(repeating: true, count: old.count)
        isNewKept = Array(repeating: true, count: new.count)
        var sides = [UInt8](repeating: 0, count: count)
        let (oldMiddle, newMiddle) = (prefix..<old.count - suffix, prefix..<new.count - suffix)
        for line in old[oldMiddle] { sides[Int(line)] |= 1 }
        for line in new[newMiddle] { sides[Int(line)] |= 2 }
        for place in oldMiddle {
            if sides[Int(old[place])] == 3 { oldPlaces.append(place) } else { isOldKept[place] = false }
        }
        for place in newMiddle {
            if sides[Int(new[place])] == 3 { newPlaces.append(place) } else { isNewKept[place] = false }
        }
        self.old = oldPlaces.map { old[$0] }
        self.new = newPlaces.map { new[$0] }
        forward = Array(repeating: 0, count: self.old.count + self.new.count + 3)
        backward = forward
        places = Array(repeating: Places(), count: count)
    }

    private var hunks: [Hunk] {
        var result: [Hunk] = []
        var (place, other) = (0, 0)
        while place < isOldKept.count || other < isNewKept.count {
            let (start, otherStart) = (place, other)
            while place < isOldKept.count, !isOldKept[place] { place += 1 }
            while other < isNewKept.count, !isNewKept[other] { other += 1 }
            if place > start || other > otherStart { result.append(Hunk(old: start..<place, new: otherStart..<other)) }
            while place < isOldKept.count, other < isNewKept.count, isOldKept[place], isNewKept[other] {
                (place, other) = (place + 1, other + 1)
            }
        }
        return result
    }

    /// Marks the lines of two ranges that are not kept, with anchors on so many levels; false when the budget is spent.
    private mutating func compare(_ olds: Range<Int>, _ news: Range<Int>, _ levels: Int) -> Bool {
        var (low, otherLow, high, otherHigh) = (olds.lowerBound, news.lowerBound, olds.upperBound, news.upperBound)
        while low < high, otherLow < otherHigh, old[low] == new[otherLow] { (low, otherLow) = (low + 1, otherLow + 1) }
        while low < high, otherLow < otherHigh, old[high - 1] == new[otherHigh - 1] {
            (high, otherHigh) = (high - 1, otherHigh - 1)
        }
        if low == high || otherLow == otherHigh {
            for index in low..<high { isOldKept[oldPlaces[index]] = false }
            for index in otherLow..<otherHigh { isNewKept[newPlaces[index]] = false }
            return true
        }
        if levels > 0 {
            steps += 4 * (high - low + otherHigh - otherLow)
            if steps > Self.budget { return false }
            let anchors = anchors(low..<high, otherLow..<otherHigh)
            if !anchors.isEmpty {
                for (place, other) in anchors {
                    guard compare(low..<place, otherLow..<other, levels - 1) else { return false }
                    (low, otherLow) = (place + 1, other + 1)
                }
                return compare(low..<high, otherLow..<otherHigh, levels - 1)
            }
        }
        guard let (middle, otherMiddle) = split(low..<high, otherLow..<otherHigh) else { return false }
        return compare(low..<middle, otherLow..<otherMiddle, levels - 1)
            && compare(middle..<high, otherMiddle..<otherHigh, levels - 1)
    }

    /// Where a line is in two ranges, and how often.
    private struct Places {
        var old = 0
        var new = 0
        var olds = 0
        var news = 0
    }

    /// The most lines, in both ranges once each, that keep their order: the longest rising run of their places.
    private mutating func anchors(_ olds: Range<Int>, _ news: Range<Int>) -> [(Int, Int)] {
        for place in olds {
            places[Int(old[place])].old = place
            places[Int(old[place])].olds += 1
        }
        for place in news {
            places[Int(new[place])].new = place
            places[Int(new[place])].news += 1
        }
        var pairs: [(place: Int, other: Int, before: Int)] = []
        // The pair that ends the run of each length with the least place in the new sequence.
        var ends: [Int] = []
        for place in olds {
            let line = places[Int(old[place])]
            guard line.olds == 1, line.news == 1 else { continue }
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if pairs[ends[middle]].other < line.new { low = middle + 1 } else { high = middle }
            }
            pairs.append((place, line.new, low > 0 ? ends[low - 1] : -1))
            if low == ends.count { ends.append(pairs.count - 1) } else { ends[low] = pairs.count - 1 }
        }
        for place in olds { places[Int(old[place])] = Places() }
        for place in news { places[Int(new[place])] = Places() }
        var result: [(Int, Int)] = []
        var next = ends.last ?? -1
        while next >= 0 {
            result.append((pairs[next].place, pairs[next].other))
            next = pairs[next].before
        }
        return result.reversed()
    }

    /// A point on a shortest path from the first corner to the last, found from both corners at once.
    ///
    /// Diagonals are `old - new`; each array holds how far along `old` the ways of the present length come on each.
    private mutating func split(_ olds: Range<Int>, _ news: Range<Int>) -> (Int, Int)? {
        let shift = self.new.count + 1
        let (first, last) = (olds.lowerBound - news.lowerBound, olds.upperBound - news.upperBound)
        let (lowest, highest) = (olds.lowerBound - news.upperBound, olds.upperBound - news.lowerBound)
        let isOdd = (first - last) & 1 != 0
        forward[first + shift] = olds.lowerBound
        backward[last + shift] = olds.upperBound
        var length = 0
        while true {
            length += 1
            steps += 2 * length
            if steps > Self.budget { return nil }
            // A diagonal outside the rectangle is never used, and its neighbours of the same parity step over it.
            for diagonal in Self.diagonals(around: first, length, lowest, highest) {
                let below = diagonal > lowest && diagonal > first - length ? forward[diagonal - 1 + shift] + 1 : .min
                let above = diagonal < highest && diagonal < first + length ? forward[diagonal + 1 + shift] : .min
                var place = max(below, above)
                let start = place
                while place < olds.upperBound, place - diagonal < news.upperBound, old[place] == new[place - diagonal] {
                    place += 1
                }
                steps += place - start
                forward[diagonal + shift] = place
                if isOdd, abs(diagonal - last) < length, backward[diagonal + shift] <= place {
                    return (place, place - diagonal)
                }
            }
            for diagonal in Self.diagonals(around: last, length, lowest, highest) {
                let below = diagonal > lowest && diagonal > last - length ? backward[diagonal - 1 + shift] : .max
                let above = diagonal < highest && diagonal < last + length ? backward[diagonal + 1 + shift] - 1 : .max
                var place = min(below, above)
                let start = place
                while place > olds.lowerBound, place - diagonal > news.lowerBound,
                    old[place - 1] == new[place - 1 - diagonal]
                {
                    place -= 1
                }
                steps += start - place
                backward[diagonal + shift] = place
                if !isOdd, abs(diagonal - first) <= length, forward[diagonal + shift] >= place {
                    return (place, place - diagonal)
                }
            }
        }
    }

    private static func diagonals(around middle: Int, _ length: Int, _ lowest: Int, _ highest: Int)
        -> StrideThrough<Int>
    {
        let low = middle - length < lowest ? lowest + ((middle - length - lowest) & 1) : middle - length
        let high = middle + length > highest ? highest : middle + length
        return stride(from: low, through: high, by: 2)
    }
}

/// Changes that stand for the same when they are moved: a line inserted next to an equal one is either of the two.
extension LineDifference {
    /// How far a change may be moved up and down through equal lines, and still be the same change.
    struct Slide {
        var up = 0
        var down = 0
    }

    /// How far a hunk may be moved among the old lines of `bounds`, none of which another hunk changes.
    static func slide(_ hunk: Hunk, within bounds: Range<Int>, from old: [Int32], to new: [Int32]) -> Slide {
        guard hunk.old.isEmpty != hunk.new.isEmpty else { return Slide() }
        let (lines, moved) = hunk.old.isEmpty ? (new, hunk.new) : (old, hunk.old)
        var slide = Slide()
        while hunk.old.lowerBound - slide.up > bounds.lowerBound,
            lines[moved.lowerBound - slide.up - 1] == lines[moved.upperBound - slide.up - 1]
        {
            slide.up += 1
        }
        while hunk.old.upperBound + slide.down < bounds.upperBound,
            lines[moved.lowerBound + slide.down] == lines[moved.upperBound + slide.down]
        {
            slide.down += 1
        }
        return slide
    }

    /// The same changes, each moved down until it meets another, or as far as possible; changes that meet become one.
    static func settled(_ hunks: [Hunk], from old: [Int32], to new: [Int32]) -> [Hunk] {
        slidDown(slidUp(hunks, from: old, to: new), from: old, to: new)
    }

    private static func slidUp(_ hunks: [Hunk], from old: [Int32], to new: [Int32]) -> [Hunk] {
        var result: [Hunk] = []
        for (index, hunk) in hunks.enumerated() {
            let above = result.last?.old.upperBound ?? 0
            let below = index + 1 < hunks.count ? hunks[index + 1].old.lowerBound : old.count
            var hunk = hunk.moved(by: -slide(hunk, within: above..<below, from: old, to: new).up)
            if let last = result.last, last.old.upperBound == hunk.old.lowerBound {
                result.removeLast()
                hunk.old = last.old.lowerBound..<hunk.old.upperBound
                hunk.new = last.new.lowerBound..<hunk.new.upperBound
            }
            result.append(hunk)
        }
        return result
    }

    private static func slidDown(_ hunks: [Hunk], from old: [Int32], to new: [Int32]) -> [Hunk] {
        var result: [Hunk] = []
        for (index, hunk) in hunks.enumerated().reversed() {
            let above = index > 0 ? hunks[index - 1].old.upperBound : 0
            let below = result.last?.old.lowerBound ?? old.count
            var hunk = hunk.moved(by: slide(hunk, within: above..<below, from: old, to: new).down)
            if let next = result.last, next.old.lowerBound == hunk.old.upperBound {
                result.removeLast()
                hunk.old = hunk.old.lowerBound..<next.old.upperBound
                hunk.new = hunk.new.lowerBound..<next.new.upperBound
            }
            result.append(hunk)
        }
        return result.reversed()
    }
}

extension LineDifference.Hunk {
    /// The change some lines further down, or up when less than zero.
    func moved(by lines: Int) -> Self {
        Self(
            old: old.lowerBound + lines..<old.upperBound + lines,
            new: new.lowerBound + lines..<new.upperBound + lines)
    }
}
