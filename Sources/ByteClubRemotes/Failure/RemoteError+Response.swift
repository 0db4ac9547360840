import ByteClubCore
import FoundationEssentials
import HTTPTypes

extension RemoteError {
    /// Reads a refusal: its status, its line for people, `Retry-After` and the request's number.
    init(_ response: HTTPResponse, _ bytes: [UInt8], subject: String) {
        let body = try? JSONDecoder().decode(RefusalBody.self, from: Data(bytes))
        let status = response.status.code
        var parameter = body?.parameter
        // Servers that name no parameter say in words that the cursor is at fault.
        if status == 400, parameter == nil, body?.message?.lowercased().contains("cursor") == true {
            parameter = "cursor"
        }
        let said = body?.message.map { Self.line($0) } ?? "no reason given"
        let message = body?.message == nil || status >= 500 ? "\(subject) was answered \(status): \(said)" : said
        self.init(
            status: status, message: message, parameter: parameter,
            retryAfter: response.headerFields[.retryAfter].flatMap { Double($0) }.flatMap {
                $0.isFinite && $0 >= 0 ? $0 : nil
            },
            requestID: HTTPField.Name("X-Dropbox-Request-Id").flatMap { response.headerFields[$0] })
    }

    /// One line without control characters, of a bounded length.
    private static func line(_ text: String) -> String {
        let scalars = text.unicodeScalars.prefix(500).map { $0.value < 0x20 || $0.value == 0x7F ? " " : Character($0) }
        return String(scalars)
    }
}

/// The body of a refusal: `{"error": "text"}` or `{"error": {"<parameter>": "text"}}`, and perhaps an upload's state.
struct RefusalBody: Decodable {
    private enum CodingKeys: String, CodingKey { case error, uploadID = "upload_id", offset }

    var message: String?
    var parameter: String?
    var uploadID: String?
    var offset: Int64?

    init(from decoder: any Decoder) throws {
        let box = try decoder.container(keyedBy: CodingKeys.self)
        if let text = try? box.decode(String.self, forKey: .error) {
            message = text
        } else if let texts = try? box.decode([String: String].self, forKey: .error),
            let first = texts.min(by: { $0.key < $1.key })
        {
            (parameter, message) = (first.key, first.value)
        }
        uploadID = try? box.decode(String.self, forKey: .uploadID)
        offset = try? box.decode(Int64.self, forKey: .offset)
    }
}
