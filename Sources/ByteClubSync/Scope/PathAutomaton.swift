/// A pattern of paths as an automaton whose states are the bits of a few machine words.
///
/// So all ways in which a path may match are followed at once (Shift-And, by Baeza-Yates and Gonnet, CACM 35:10, 1992).
/// Bit `i` is set while the first `i` tokens match what was read. A character of a path costs one step over the words,
/// of which there is one for 64 tokens: nothing is tried twice, whatever stars and brackets a pattern is made of.
struct PathAutomaton: Sendable, Equatable {
    /// 64 tokens, or the states before them, a bit each.
    private struct Word: Equatable {
        /// Tokens that are a slash.
        var slashes: UInt64 = 0
        /// Tokens that stand for any character but a slash.
        var anyones: UInt64 = 0
        /// Tokens in brackets.
        var sets: UInt64 = 0
        /// Those of them that stand for all other characters.
        var negated: UInt64 = 0
        /// Tokens, all of them slashes, that end one of the folders for which `**/` stands.
        var folders: UInt64 = 0
        /// States that stay through any character but a slash: those before which a star is.
        var stays: UInt64 = 0
        /// States that stay through everything: the last one of a pattern that ends in `/**`.
        var endless: UInt64 = 0
    }

    /// How many characters a path has at least that matches.
    let shortest: Int
    /// The state after the last token.
    private let end: Int
    private let words: [Word]
    /// Which tokens stand for a character.
    private let characters: CharacterTable
    /// Which tokens stand for one of a class, class by class, a word for 64 tokens.
    private let classes: [UInt64]

    /// Joins the patterns of names; without `isAnchored` there is one, which may be in any folder.
    init(_ globs: [NameGlob], isAnchored: Bool) {
        var draft = Draft()
        if !isAnchored { draft.addFolders() }
        for (index, glob) in globs.enumerated() {
            let isLast = index == globs.count - 1
            if isAnchored, glob.isDoubleStar {
                if isLast { draft.addEverything() } else { draft.addFolders() }
                continue
            }
            draft.add(glob)
            if !isLast { draft.tokens.append(.slash) }
        }
        end = draft.tokens.count
        shortest = draft.tokens.count - draft.folders.count
        let count = draft.tokens.count / 64 + 1
        var words = [Word](repeating: Word(), count: count)
        var classes = [UInt64](repeating: 0, count: count * ScalarClasses.count)
        for (index, token) in draft.tokens.enumerated() {
            let (word, bit) = (index / 64, UInt64(1) << (index % 64))
            switch token {
            case .slash: words[word].slashes |= bit
            case .one: words[word].anyones |= bit
            case .scalar: break
            case .oneOf(let set):
                words[word].sets |= bit
                if set.isNegated { words[word].negated |= bit }
                for number in 0..<ScalarClasses.count where set.classes.has(number) {
                    classes[number * count + word] |= bit
                }
            }
        }
        for state in draft.folders { words[state / 64].folders |= 1 << (state % 64) }
        for state in draft.stays { words[state / 64].stays |= 1 << (state % 64) }
        for state in draft.endless { words[state / 64].endless |= 1 << (state % 64) }
        (self.words, self.classes) = (words, classes)
        characters = CharacterTable(
            draft.tokens.enumerated().flatMap { index, token in token.ranges.map { ($0, index) } }, count)
    }

    /// Tokens and marks as they are put together.
    private struct Draft {
        enum Token: Equatable {
            case slash, one
            case scalar(Unicode.Scalar)
            case oneOf(ScalarSet)

            /// The characters for which it stands.
            var ranges: [ClosedRange<UInt32>] {
                switch self {
                case .slash, .one: []
                case .scalar(let scalar): [scalar.value...scalar.value]
                case .oneOf(let set): set.ranges
                }
            }
        }

        var tokens: [Token] = []
        var stays: [Int] = []
        var endless: [Int] = []
        var folders: [Int] = []

        mutating func add(_ glob: NameGlob) {
            for token in glob.tokens {
                switch token {
                case .scalar(let scalar): tokens.append(.scalar(scalar))
                case .one: tokens.append(.one)
                case .any: stays.append(tokens.count)
                case .oneOf(let set): tokens.append(.oneOf(set))
                }
            }
        }

        /// Any number of folders, none as well; once more says nothing new.
        mutating func addFolders() {
            if let last = folders.last, last == tokens.count - 1 { return }
            folders.append(tokens.count)
            stays.append(tokens.count)
            tokens.append(.slash)
        }

        /// Whatever is in a folder, and below that.
        mutating func addEverything() {
            tokens.append(.one)
            endless.append(tokens.count)
        }
    }
}

extension PathAutomaton {
    /// One way along a path.
    struct Run {
        private let automaton: PathAutomaton
        private var states: [UInt64]
        /// The cost so far: words stepped over and probes of the character table.
        private(set) var steps = 0

        init(_ automaton: PathAutomaton) {
            self.automaton = automaton
            states = Array(repeating: 0, count: automaton.words.count)
            states[0] = 1
            enterFolders()
        }

        /// Whether the path so far matches.
        var isMatch: Bool { states[automaton.end / 64] >> (automaton.end % 64) & 1 == 1 }

        /// Whether no path that goes on like this can match.
        var isOver: Bool { states.allSatisfy { $0 == 0 } }

        /// Takes the next character.
        mutating func take(_ symbol: PathSymbol) {
            steps += states.count
            if symbol.isSlash {
                move { _, word in (word.slashes, word.endless) }
                return enterFolders()
            }
            let characters = automaton.characters
            let exact = characters.tokens(of: symbol.scalar)
            let upper = symbol.upper == symbol.scalar ? exact : characters.tokens(of: symbol.upper)
            steps += exact.probes + upper.probes
            let (classes, count) = (automaton.classes, states.count)
            move { index, word in
                var found = characters[exact, index]
                if word.sets != 0 {
                    found |= characters[upper, index] & word.sets
                    for number in 0..<ScalarClasses.count where symbol.classes.has(number) {
                        found |= classes[number * count + index]
                    }
                    found ^= word.negated
                }
                return (found | word.anyones, word.stays | word.endless)
            }
        }

        /// Moves all states on: `marks` tells of each word which tokens the character is one of, and which states stay.
        private mutating func move(_ marks: (Int, Word) -> (taken: UInt64, kept: UInt64)) {
            var carry: UInt64 = 0
            for (index, word) in automaton.words.enumerated() where states[index] | carry != 0 {
                let marks = marks(index, word)
                let moved = states[index] & marks.taken
                states[index] = moved << 1 | carry | states[index] & marks.kept
                carry = moved >> 63
            }
        }

        /// At the start of a name: where any number of folders may be, there may be none, or one more.
        private mutating func enterFolders() {
            steps += states.count
            var carry: UInt64 = 0
            for (index, word) in automaton.words.enumerated() {
                let entered = states[index] & word.folders
                states[index] |= entered << 1 | carry
                carry = entered >> 63
            }
            for (index, word) in automaton.words.enumerated() {
                let next = index + 1 < states.count ? states[index + 1] & 1 : 0
                states[index] |= (states[index] >> 1 | next << 63) & word.folders
            }
        }
    }
}

/// Which tokens of a pattern stand for which characters: the characters in ranges, for each of which the tokens are the
/// same.
struct CharacterTable: Sendable, Equatable {
    /// The row of a character, and how many probes the search took.
    struct Lookup {
        fileprivate let row: Int
        let probes: Int
    }

    private let words: Int
    /// The first characters of the ranges, ascending; what is before the first has no tokens.
    private var starts: [UInt32] = []
    private var rows: [UInt64] = []

    /// Sorts the characters of tokens, each of which may come several times.
    init(_ tokens: [(range: ClosedRange<UInt32>, token: Int)], _ words: Int) {
        self.words = words
        let changes = tokens.flatMap { [($0.range.lowerBound, $0.token, 1), ($0.range.upperBound + 1, $0.token, -1)] }
        var held = Array(repeating: 0, count: words * 64)
        var row = [UInt64](repeating: 0, count: words)
        for (start, token, change) in changes.sorted(by: { $0.0 < $1.0 }) {
            held[token] += change
            let bit: UInt64 = 1 << (token % 64)
            if held[token] > 0 { row[token / 64] |= bit } else { row[token / 64] &= ~bit }
            if starts.last == start { rows.removeLast(words) } else { starts.append(start) }
            rows += row
        }
    }

    /// Where the tokens of a character are.
    func tokens(of scalar: UInt32) -> Lookup {
        var (low, high, probes) = (0, starts.count, 0)
        while low < high {
            let middle = (low + high) / 2
            probes += 1
            if starts[middle] <= scalar { low = middle + 1 } else { high = middle }
        }
        return Lookup(row: low - 1, probes: probes)
    }

    /// A word of the tokens of a lookup.
    subscript(lookup: Lookup, word: Int) -> UInt64 { lookup.row < 0 ? 0 : rows[lookup.row * words + word] }
}
