import Testing

/// The tests of the real programs, one after another: they measure memory and kill processes at timed points.
@Suite("End to end", .serialized) enum EndToEnd {}
