import ArgumentParser
import ByteClubCore

/// How a photo's bytes are transferred and how that is shown.
struct TransferOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Limit bytes per second, as in 500K or 2M; default: BYTECLUB_LIMIT_RATE, else no limit.",
            valueName: "rate"), transform: ByteRate.argument)
    var limitRate: ByteRate?

    @OptionGroup var progressOptions: ProgressOptions

    /// The rate: flag before environment before settings file.
    func rate(_ context: Context, _ flags: Settings) throws -> Int? {
        if let limitRate { return limitRate.bytesPerSecond }
        guard let text = try context.settings(flags: flags).rateLimit else { return nil }
        guard let rate = ByteRate(text) else {
            throw Failure(.configuration, "invalid value '\(text)' for limit-rate; write 500K or 2M")
        }
        return rate.bytesPerSecond
    }
}

extension ByteRate {
    /// Reads a rate from the command line.
    static func argument(_ text: String) throws -> ByteRate {
        guard let rate = ByteRate(text) else { throw ValidationError("write 500K or 2M") }
        return rate
    }
}
