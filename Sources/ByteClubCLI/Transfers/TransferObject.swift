import ByteClubCore
import ByteClubHTTP

/// A background transfer: its JSON object, and for people its ID and name.
struct TransferObject: CommandResult, Hashable {
    /// Which way the bytes go.
    enum Kind: String, Encodable, Sendable {
        case upload, download
        /// Of another version of this program.
        case other
    }

    /// 16 digits.
    var id: String
    var kind: Kind
    /// The photo's name.
    var label: String
    /// `waiting`, `running`, `paused`, `done` or `failed`.
    var state: String
    /// Bytes that need not be moved again.
    var bytes: Int64
    /// Bytes in all; null while unknown.
    @NullableJSON var total: Int64?
    /// Bytes a second; 0 while nothing moves.
    var rate: Int64
    /// Seconds left at that rate; absent when unknown.
    var timeLeft: Int?
    /// The error, or the place of a transferred photo; absent otherwise.
    var message: String?
    /// When the next attempt is due, as RFC 3339 in UTC; absent without one.
    var nextAttempt: String?
    /// Why it must not use the present network: `metered`; absent when it may.
    var obstacle: String?

    private enum CodingKeys: String, CodingKey {
        case id, kind, label, state, bytes, total, rate, timeLeft, message, nextAttempt, obstacle
    }

    /// The ID for a terminal.
    let shortID: String
    /// When the next attempt is due, in seconds since 1970.
    let nextSeconds: Int64?

    /// Converts a status from the daemon.
    init(_ status: BackgroundStatus, id short: String) {
        id = status.id.description
        shortID = short
        kind = Self.kind(status.request.work)
        label = status.request.options.label
        if label.isEmpty { label = Self.name(status.request.work) }
        state = status.state.rawValue
        bytes = status.bytes
        total = status.total
        let isMoving = status.state == .running && status.bytesPerSecond >= 1 && status.bytesPerSecond < 1e15
        rate = isMoving ? Int64(status.bytesPerSecond) : 0
        if isMoving, let total = status.total, total > status.bytes {
            let left = (Double(total - status.bytes) / status.bytesPerSecond).rounded(.up)
            timeLeft = left < 1e9 ? max(1, Int(left)) : nil
        }
        let held = status.state == .waiting ? status.obstacle : nil
        obstacle = held?.rawValue
        nextSeconds = status.state == .waiting && held == nil ? status.nextAttempt.map { $0 / 1000 } : nil
        nextAttempt = nextSeconds.map { CalendarTime.utc($0).rfc3339 }
        message = status.state == .done ? Self.place(status.result) : held.map(Self.words) ?? status.failure?.message
    }

    /// What a transfer waits for.
    static func words(_ obstacle: NetworkConditions.Obstacle) -> String {
        obstacle == .metered ? NetworkCost.waiting : "waiting: \(obstacle)"
    }

    func text(_ style: TextStyle) -> String {
        var table = TextTable(.init(), .init(isShortened: true))
        table.hasTitles = false
        table.rows = [[style.columns == nil ? id : shortID, label]]
        return style.list(table)
    }

    private static func kind(_ work: BackgroundRequest.Work) -> Kind {
        switch work {
        case .upload, .custom(PhotoUploadOrder.kind, _): .upload
        case .download, .custom(PhotoDownloadOrder.kind, _): .download
        case .custom: .other
        }
    }

    private static func name(_ work: BackgroundRequest.Work) -> String {
        switch work {
        case .upload(_, let file), .download(_, let file): LocalFile.name(of: file)
        case .custom(let kind, _): kind
        }
    }

    /// Where a transfer's bytes are now.
    private static func place(_ result: BackgroundResult?) -> String? {
        guard let result else { return nil }
        if let file = result.file { return file }
        return result.bytes.isEmpty ? nil : String(decoding: result.bytes.prefix(4096), as: UTF8.self)
    }
}

/// A number that JSON has as null, not absent, when it is unknown.
@propertyWrapper struct NullableJSON: Encodable, Hashable, Sendable {
    var wrappedValue: Int64?

    func encode(to encoder: any Encoder) throws {
        var box = encoder.singleValueContainer()
        try box.encode(wrappedValue)
    }
}
