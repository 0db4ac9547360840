import ByteClubCore

extension JSONText {
    mutating func date(_ date: APIDate) {
        value(date: date.seconds) { date.description }
    }
}

extension Metadata: JSONWritable {
    func write(to json: inout JSONText) {
        json.object { writeMembers(to: &$0) }
    }

    /// Writes the members alone, so that a listing can go on with its children.
    func writeMembers(to json: inout JSONText) {
        json.key("path")
        json.value(path.string)
        json.key("is_dir")
        json.value(isFolder)
        json.key("bytes")
        json.value(bytes)
        json.key("size")
        json.value(size)
        if let rev {
            json.key("rev")
            json.value(rev.description)
            if let version = JournalRevision(rev) {
                json.key("revision")
                json.value(version.number)
            }
        }
        if let modified {
            json.key("modified")
            json.date(modified)
        }
        if let clientModified {
            json.key("client_mtime")
            json.date(clientModified)
        }
        json.member("client_mtime_nanos", clientNanoseconds)
        json.member("executable", isExecutable)
        if let mimeType {
            json.key("mime_type")
            json.value(mimeType)
        }
        json.key("icon")
        json.value(icon)
        json.key("root")
        json.value(root)
        json.key("thumb_exists")
        json.value(hasThumbnail)
        if isDeleted {
            json.key("is_deleted")
            json.value(true)
        }
        if let hash {
            json.key("hash")
            json.value(hash)
        }
        if let contents {
            json.key("contents")
            contents.write(to: &json)
        }
        if let contentHash {
            json.key("content_hash")
            json.value(contentHash)
        }
        if let photoInfo {
            json.key("photo_info")
            photoInfo.write(to: &json)
        }
        if let videoInfo {
            json.key("video_info")
            videoInfo.write(to: &json)
        }
        if let modifier {
            json.key("modifier")
            modifier.write(to: &json)
        }
        if let snippet {
            json.key("snippet")
            snippet.write(to: &json)
        }
    }
}

extension Modifier: JSONWritable {
    func write(to json: inout JSONText) {
        json.object { json in
            json.member("uid", uid)
            json.member("display_name", displayName)
        }
    }
}

extension TextSnippet: JSONWritable {
    func write(to json: inout JSONText) {
        json.array { json in
            for part in parts {
                json.object { json in
                    json.key("text")
                    json.value(part.text)
                    json.key("match")
                    json.value(part.isMatch)
                }
            }
        }
    }
}

extension MediaInfo: JSONWritable {
    func write(to json: inout JSONText) {
        if isPending { return json.value(Self.pendingWord) }
        json.object { json in
            if let taken {
                json.key("time_taken")
                json.date(taken.moment)
                if let offset = taken.offset {
                    json.key("time_offset")
                    json.value(Int64(offset))
                }
            }
            if let place {
                json.key("lat_long")
                json.array { json in
                    json.value(place.latitude)
                    json.value(place.longitude)
                }
            }
            if let shape {
                json.key("shape")
                shape.write(to: &json)
            }
        }
    }
}

extension PhotoShape: JSONWritable {
    func write(to json: inout JSONText) {
        let angles: [(StaticString, Double?)] = [
            ("hfov", hFOV), ("vfov", vFOV), ("yaw", yaw), ("pitch", pitch), ("heading", heading),
        ]
        json.object { json in
            json.key("kind")
            json.value(kind.rawValue)
            json.key("width")
            json.value(Int64(width))
            json.key("height")
            json.value(Int64(height))
            for (name, angle) in angles {
                guard let value = angle else { continue }
                json.key(name)
                json.value(value)
            }
            json.key("is_estimate")
            json.value(isEstimate)
        }
    }
}

extension DeltaPage: JSONWritable {
    func write(to json: inout JSONText) {
        json.object { json in
            json.key("reset")
            json.value(reset)
            json.key("cursor")
            json.value(cursor)
            json.key("has_more")
            json.value(hasMore)
            json.key("entries")
            entries.write(to: &json)
        }
    }
}

extension DeltaEntry: JSONWritable {
    func write(to json: inout JSONText) {
        json.array { json in
            json.value(key.string)
            if let metadata { metadata.write(to: &json) } else { json.null() }
        }
    }
}

extension LongpollResult: JSONWritable {
    func write(to json: inout JSONText) {
        json.object { json in
            json.key("changes")
            json.value(changes)
            if let backoff {
                json.key("backoff")
                json.value(Int64(backoff))
            }
        }
    }
}

extension ChunkedUpload: JSONWritable {
    func write(to json: inout JSONText) {
        json.object { writeMembers(to: &$0) }
    }

    fileprivate func writeMembers(to json: inout JSONText) {
        json.key("upload_id")
        json.value(uploadID)
        json.key("offset")
        json.value(Int64(offset))
        json.key("expires")
        json.date(expires)
    }
}

extension APIError: JSONWritable {
    func write(to json: inout JSONText) {
        json.object { json in
            upload?.writeMembers(to: &json)
            json.key("error")
            if let parameter {
                json.object { json in
                    json.key(named: parameter)
                    json.value(message)
                }
            } else {
                json.value(message)
            }
        }
    }
}
