/// Where a large upload stands on a server, so that it can go on after the program that began it has ended.
public struct UploadPosition: Hashable, Sendable, Encodable {
    /// What names the upload on the server.
    public var id: String
    /// How many bytes of the file the server has.
    public var offset: Int64
    /// The state in which the file was sent, as the remote tells it; another state is another upload.
    public var file: String

    /// Creates a position.
    public init(id: String, offset: Int64, file: String) {
        self.id = id
        self.offset = offset
        self.file = file
    }
}

extension UploadPosition: JSONReadable {
    /// Reads what was encoded.
    public init(json: inout JSONReader) throws(JSONError) {
        var (id, offset, file): (String?, Int64?, String?)
        try json.object { (json, name) throws(JSONError) in
            switch name {
            case "id": id = try json.value()
            case "offset": offset = try json.value()
            case "file": file = try json.value()
            default: try json.skip()
            }
        }
        guard let id else { throw JSONError(.missing("id")) }
        guard let offset, offset >= 0 else { throw JSONError(.missing("offset")) }
        guard let file else { throw JSONError(.missing("file")) }
        self.init(id: id, offset: offset, file: file)
    }

    /// Writes what is read.
    public func write(to json: inout JSONText) {
        json.object { json in
            json.member("id", id)
            json.member("offset", offset)
            json.member("file", file)
        }
    }
}

/// How an upload goes on where an earlier one of the same file ended.
public struct UploadResumption: Sendable {
    /// Where the earlier one stood; nil when there was none.
    public var position: UploadPosition?
    /// Takes where the upload stands now, each time the server has stored a part; nil when nothing is left to go on with.
    public var keep: @Sendable (UploadPosition?) -> Void

    /// Creates a resumption; `keep` may be called on any thread, never by two at once.
    public init(from position: UploadPosition?, keep: @escaping @Sendable (UploadPosition?) -> Void) {
        self.position = position
        self.keep = keep
    }
}
