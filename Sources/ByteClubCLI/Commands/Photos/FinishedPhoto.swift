/// A photo on this machine that no other program writes to any more.
struct FinishedPhoto {
    private static let pause = Duration.milliseconds(250)
    /// For how many seconds a picture without an end must have been left alone: programs may write in steps.
    private static let quiet: Int64 = 3

    let file: String
    /// The state in which it was found.
    let state: FileState
    /// Whether its picture comes to its end.
    let hasEnd: Bool

    /// Waits for a photo, and checks that it is a JPEG.
    ///
    /// - Throws: A ``Failure`` 75 when it is still written to after ``Context/writerPatience``, 65 for what is no JPEG;
    ///   a ``FileError``.
    init(_ file: String, _ context: Context) async throws {
        var patience = context.writerPatience
        while true {
            let state = try FileState(of: file)
            if !LocalFile.isBeingWritten(file) {
                let hasEnd = try await PhotoFile.check(file)
                let isFresh = (0..<Self.quiet).contains(context.now() - state.seconds)
                if hasEnd || !isFresh, try FileState(of: file) == state {
                    (self.file, self.state, self.hasEnd) = (file, state, hasEnd)
                    return
                }
            }
            guard patience > .zero else {
                throw Failure(.tryAgain, "'\(file)' is still being written by another program; try again later")
            }
            patience -= Self.pause
            try await Task.sleep(for: Self.pause)
        }
    }

    /// Tells people of a picture without an end.
    func tell(_ context: Context) {
        if hasEnd { return }
        context.note("'\(file)' seems to be truncated; it is sent unchanged")
    }
}
