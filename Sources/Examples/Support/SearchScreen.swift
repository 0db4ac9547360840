import ByteClubHTTP
import Glibc

/// A search at a terminal while the user types, until the user chooses a result.
package struct SearchScreen<Found: Sendable>: Sendable {
    private enum Input: Sendable {
        case key(Key)
        case found(Int, [Found])
        case failed(Int, String)
        case stopped(Failure.Code)
    }

    private let terminal: KeyTerminal
    private let action: String
    private let search: @Sendable (String) async throws -> [Found]
    private let line: @Sendable (Found) -> String

    /// A screen for a search.
    ///
    /// - Parameters:
    ///   - terminal: The terminal, which is restored when the search ends.
    ///   - action: What Return does with the chosen result, such as `downloads`.
    ///   - search: Finds the results for some words; cancelled when the words change.
    ///   - line: The line of a result.
    package init(
        _ terminal: KeyTerminal, action: String, search: @escaping @Sendable (String) async throws -> [Found],
        line: @escaping @Sendable (Found) -> String
    ) {
        (self.terminal, self.action, self.search, self.line) = (terminal, action, search, line)
    }

    /// The result that the user chooses; nil for none.
    ///
    /// - Throws: ``Failure`` if the search was stopped.
    package func run() async throws -> Found? {
        let (inputs, input) = AsyncStream.makeStream(of: Input.self)
        _ = StopSignal([SIGINT, SIGTERM, SIGHUP], ending: { [terminal] in terminal.restore() }) { number in
            input.yield(.stopped(number == SIGINT ? .interrupted : .terminated))
        }
        let typing = Task { [terminal] in
            for await key in terminal.keys { input.yield(.key(key)) }
            input.yield(.stopped(.terminated))
        }
        var typeahead = Typeahead(action: action)
        var results: [Found] = []
        var asking: Task<Void, Never>?
        defer {
            asking?.cancel()
            typing.cancel()
            terminal.restore(isCleared: true)
        }
        draw(typeahead)
        for await next in inputs {
            let event: Typeahead.Event
            switch next {
            case .key(let key): event = .key(key)
            case .found(let number, let found):
                if number == typeahead.question { results = found }
                event = .found(number, found.map(line))
            case .failed(let number, let reason): event = .failed(number, reason)
            case .stopped(let code): throw Failure(code, "stopped")
            }
            for command in typeahead.handle(event) {
                switch command {
                case .ask(let number, let words):
                    // Cancelling the Swift task cancels the request at once.
                    asking?.cancel()
                    asking = Task { input.yield(await answer(number, words)) }
                case .cancel: asking?.cancel()
                case .choose(let index): return results.indices.contains(index) ? results[index] : nil
                case .leave(isInterrupted: true): throw Failure(.interrupted, "stopped")
                case .leave(isInterrupted: false): return nil
                }
            }
            draw(typeahead)
        }
        return nil
    }

    private func answer(_ number: Int, _ words: String) async -> Input {
        do { return .found(number, try await search(words)) } catch {
            let reason = (error as? Failure)?.message ?? (error as? TransferError)?.message ?? "\(error)"
            return .failed(number, reason.printable)
        }
    }

    private func draw(_ typeahead: Typeahead) {
        let (columns, lines) = terminal.size
        terminal.draw(typeahead.rows(columns: columns, lines: lines))
    }
}
