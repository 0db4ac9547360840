import ByteClubCore

/// A value with a JSON form on the wire.
protocol JSONWritable {
    /// Writes the value.
    func write(to json: inout JSONText)
}

extension JSONWritable {
    /// The value's JSON text in UTF-8.
    func json(isASCII: Bool = false) -> [UInt8] {
        var json = JSONText(isASCII: isASCII)
        write(to: &json)
        return json.bytes
    }
}

/// A value whose JSON form is an object: its type names each member once.
protocol JSONObjectWritable: JSONWritable {
    /// Writes the members alone, so that the object can go on with others.
    func writeMembers(to json: inout JSONText)
}

extension JSONObjectWritable {
    func write(to json: inout JSONText) {
        json.object { writeMembers(to: &$0) }
    }
}

extension Array: JSONWritable where Element: JSONWritable {
    func write(to json: inout JSONText) {
        json.array { json in
            for element in self { element.write(to: &json) }
        }
    }
}

extension String: JSONWritable {
    func write(to json: inout JSONText) { json.value(self) }
}

extension JSONText {
    mutating func date(_ date: APIDate) {
        value(date: date.seconds) { date.description }
    }

    /// Writes a member that is a date; nil writes none.
    mutating func member(_ name: StaticString, _ date: APIDate?) {
        guard let date else { return }
        key(name)
        self.date(date)
    }

    /// Writes a member that is a value of the wire; nil writes none.
    mutating func member(_ name: StaticString, _ value: (some JSONWritable)?) {
        guard let value else { return }
        key(name)
        value.write(to: &self)
    }
}

extension Metadata: JSONObjectWritable {
    func writeMembers(to json: inout JSONText) {
        json.member("path", path.string)
        json.member("is_dir", isFolder)
        json.member("bytes", bytes)
        json.member("size", size)
        json.member("rev", rev?.description)
        json.member("revision", rev.flatMap { JournalRevision($0)?.number })
        json.member("modified", modified)
        json.member("client_mtime", clientModified)
        json.member("client_mtime_nanos", clientNanoseconds)
        json.member("executable", isExecutable)
        json.member("mime_type", mimeType)
        json.member("icon", icon)
        json.member("root", root)
        json.member("thumb_exists", hasThumbnail)
        json.member("is_deleted", isDeleted ? true : nil)
        json.member("hash", hash)
        json.member("contents", contents)
        json.member("content_hash", contentHash)
        json.member("photo_info", photoInfo)
        json.member("video_info", videoInfo)
        json.member("modifier", modifier)
        json.member("snippet", snippet)
    }
}

extension Modifier: JSONObjectWritable {
    func writeMembers(to json: inout JSONText) {
        json.member("uid", uid)
        json.member("display_name", displayName)
    }
}

extension TextSnippet: JSONWritable {
    func write(to json: inout JSONText) {
        json.array { json in
            for part in parts {
                json.object { json in
                    json.member("text", part.text)
                    json.member("match", part.isMatch)
                }
            }
        }
    }
}

extension MediaInfo: JSONWritable {
    func write(to json: inout JSONText) {
        if isPending { return json.value(Self.pendingWord) }
        json.object { json in
            json.member("time_taken", taken?.moment)
            json.member("time_offset", taken?.offset.map { Int64($0) })
            if let place {
                json.key("lat_long")
                json.array { json in
                    json.value(place.latitude)
                    json.value(place.longitude)
                }
            }
            json.member("shape", shape)
        }
    }
}

extension PhotoShape: JSONObjectWritable {
    func writeMembers(to json: inout JSONText) {
        json.member("kind", kind.rawValue)
        json.member("width", Int64(width))
        json.member("height", Int64(height))
        json.member("hfov", hFOV)
        json.member("vfov", vFOV)
        json.member("yaw", yaw)
        json.member("pitch", pitch)
        json.member("heading", heading)
        json.member("is_estimate", isEstimate)
    }
}

extension DeltaPage: JSONObjectWritable {
    func writeMembers(to json: inout JSONText) {
        json.member("reset", reset)
        json.member("cursor", cursor)
        json.member("has_more", hasMore)
        json.member("entries", entries)
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

extension LongpollResult: JSONObjectWritable {
    func writeMembers(to json: inout JSONText) {
        json.member("changes", changes)
        json.member("backoff", backoff.map { Int64($0) })
    }
}

extension ChunkedUpload: JSONObjectWritable {
    func writeMembers(to json: inout JSONText) {
        json.member("upload_id", uploadID)
        json.member("offset", Int64(offset))
        json.member("expires", expires)
    }
}

extension APIError: JSONObjectWritable {
    func writeMembers(to json: inout JSONText) {
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

extension Account: JSONObjectWritable {
    func writeMembers(to json: inout JSONText) {
        json.member("uid", uid)
        json.member("display_name", displayName)
        json.member("email", email)
        json.member("email_verified", isEmailVerified)
        json.member("country", country)
        json.member("locale", locale)
        json.member("is_paired", isPaired)
        json.key("team")
        if let team { json.value(team) } else { json.null() }
        json.member("referral_link", referralLink)
        json.member("name_details", nameDetails)
        json.member("quota_info", quotaInfo)
        json.member("role", role)
        json.member("byteclub", extensions)
    }
}

extension Account.NameDetails: JSONObjectWritable {
    func writeMembers(to json: inout JSONText) {
        json.member("familiar_name", familiarName)
        json.member("given_name", givenName)
        json.member("surname", surname)
    }
}

extension Account.Quota: JSONObjectWritable {
    func writeMembers(to json: inout JSONText) {
        json.member("quota", quota)
        json.member("normal", normal)
        json.member("shared", shared)
        json.member("datastores", datastores)
    }
}

extension Account.Extensions: JSONObjectWritable {
    func writeMembers(to json: inout JSONText) {
        json.member("version", Int64(version))
        json.member("conditional_delete", conditionalDelete)
        json.member("sync", sync)
        json.member("links", links)
        json.member("history", history)
        json.member("content_search", contentSearch)
        json.member("photo_search", photoSearch)
        json.member("bulk_chunks", bulkChunks)
        json.member("club", club)
    }
}
