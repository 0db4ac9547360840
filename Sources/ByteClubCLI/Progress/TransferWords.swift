import ByteClubCore

/// What a log calls the transfers of a command.
struct TransferWords: Sendable {
    /// As in "uploading".
    var doing: String
    /// As in "uploaded".
    var done: String
    /// As in "photo"; more of them have an s.
    var noun: String

    static let upload = TransferWords(doing: "uploading", done: "uploaded", noun: "photo")
    static let download = TransferWords(doing: "downloading", done: "downloaded", noun: "photo")
    static let saving = TransferWords(doing: "saving", done: "saved", noun: "note")
    static let comparison = TransferWords(doing: "comparing", done: "compared", noun: "mirror")

    /// The line before the first transfer.
    func start(_ name: String, of count: Int, total: Int64?) -> String {
        doing + " " + (count == 1 ? name : "\(count) \(noun)s") + size(total)
    }

    /// The line after a transfer.
    func finish(_ name: String, bytes: Int64, seconds: Double) -> String {
        "\(done) \(name)\(size(bytes)) in \(time(seconds))"
    }

    /// The line after all transfers.
    func summary(files: Int, of count: Int, present: Int = 0, bytes: Int64, seconds: Double) -> String {
        let number = files == count ? "\(count)" : "\(files) of \(count)"
        return "\(done) \(number) \(noun)\(count == 1 ? "" : "s")\(size(bytes)) in \(time(seconds))"
            + (present > 0 ? "; \(present) already there" : "")
    }

    private func size(_ bytes: Int64?) -> String { bytes.map { ", " + HumanSize.shown($0) } ?? "" }

    private func time(_ seconds: Double) -> String { ProgressLine.duration(max(1, Int(seconds.rounded()))) }
}
