import HTTPTypes

/// Builds a response from the header lines libcurl passes on, one call a line.
struct ResponseParser {
    private(set) var response: HTTPResponse?
    /// Whether the final response's header is complete.
    ///
    /// Later lines are trailers and ignored.
    private(set) var isComplete = false
    private var hasStatus = false
    /// The status of the last status line; 200 before the first.
    private(set) var status = HTTPResponse.Status(code: 200)
    private var fields = HTTPFields()

    /// Parses one line, including its line end; false if the line is not HTTP.
    mutating func consume(_ line: UnsafeRawBufferPointer) -> Bool {
        if isComplete { return true }
        var end = line.count
        while end > 0, unsafe line[end - 1] == 10 || line[end - 1] == 13 { end -= 1 }
        let text = unsafe UnsafeRawBufferPointer(rebasing: line[..<end])
        if unsafe text.isEmpty { return finishBlock() }
        return unsafe hasStatus ? addField(text) : begin(text)
    }

    private mutating func begin(_ line: UnsafeRawBufferPointer) -> Bool {
        // HTTP/1.1 200 OK, and HTTP/2 200
        guard line.count >= 10, unsafe line.starts(with: "HTTP/".utf8),
            let blank = unsafe line.firstIndex(of: 0x20), blank + 4 <= line.count
        else { return false }
        var code = 0
        for index in blank + 1..<blank + 4 {
            let digit = unsafe line[index]
            guard (0x30...0x39).contains(digit) else { return false }
            code = code * 10 + Int(digit - 0x30)
        }
        guard code >= 100 else { return false }
        let reason = unsafe blank + 5 < line.count ? String(decoding: line[(blank + 5)...], as: UTF8.self) : ""
        status = HTTPResponse.Status(code: code, reasonPhrase: HTTPField.isValidValue(reason) ? reason : "")
        fields = HTTPFields()
        hasStatus = true
        return true
    }

    private mutating func addField(_ line: UnsafeRawBufferPointer) -> Bool {
        guard let colon = unsafe line.firstIndex(of: UInt8(ascii: ":")) else { return true }
        guard let name = unsafe HTTPField.Name(String(decoding: line[..<colon], as: UTF8.self)) else { return true }
        var start = colon + 1
        var end = line.count
        while start < end, unsafe line[start] == 0x20 || line[start] == 9 { start += 1 }
        while end > start, unsafe line[end - 1] == 0x20 || line[end - 1] == 9 { end -= 1 }
        unsafe fields.append(HTTPField(name: name, lenientValue: UnsafeRawBufferPointer(rebasing: line[start..<end])))
        return true
    }

    private mutating func finishBlock() -> Bool {
        guard hasStatus else { return true }
        hasStatus = false
        guard status.code >= 200 else { return true }
        response = HTTPResponse(status: status, headerFields: fields)
        isComplete = true
        return true
    }
}
