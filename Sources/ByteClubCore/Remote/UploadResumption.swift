/// The position of a large upload on a server, so that another process can resume it.
public struct UploadPosition: Hashable, Sendable, Encodable {
    /// What names the upload on the server.
    public var id: String
    /// How many bytes of the file the server has.
    public var offset: Int64
    /// The state in which the file was sent, as the remote describes it; another state is another upload.
    public var file: String

    /// Creates a position.
    public init(id: String, offset: Int64, file: String) {
        self.id = id
        self.offset = offset
        self.file = file
    }
}

extension UploadPosition: JSONReadable {
    /// Reads the encoded form.
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
        self.init(id: id, offset: offset, file: try file.required("file"))
    }

    /// Writes the form that is read.
    public func write(to json: inout JSONText) {
        json.object { json in
            json.member("id", id)
            json.member("offset", offset)
            json.member("file", file)
        }
    }
}

/// Resumes an upload where an earlier one of the same file ended.
public struct UploadResumption: Sendable {
    /// The position of the earlier upload; nil when there was none.
    public var position: UploadPosition?
    /// Receives the new position each time the server has stored a part; nil when the upload can no longer be resumed.
    public var keep: @Sendable (UploadPosition?) -> Void

    /// Creates a resumption; `keep` may be called on any thread, never by two at once.
    public init(from position: UploadPosition?, keep: @escaping @Sendable (UploadPosition?) -> Void) {
        self.position = position
        self.keep = keep
    }
}
