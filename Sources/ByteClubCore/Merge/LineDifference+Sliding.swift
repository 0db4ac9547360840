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

    /// The same changes, each moved until it meets another or else as far down as it goes; changes that meet become
    /// one.
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
