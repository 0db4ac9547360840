import ByteClubCore

extension Account: JSONWritable {
    func write(to json: inout JSONText) {
        json.object { json in
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
}

extension Account.NameDetails: JSONWritable {
    func write(to json: inout JSONText) {
        json.object { json in
            json.member("familiar_name", familiarName)
            json.member("given_name", givenName)
            json.member("surname", surname)
        }
    }
}

extension Account.Quota: JSONWritable {
    func write(to json: inout JSONText) {
        json.object { json in
            json.member("quota", quota)
            json.member("normal", normal)
            json.member("shared", shared)
            json.member("datastores", datastores)
        }
    }
}

extension Account.Extensions: JSONWritable {
    func write(to json: inout JSONText) {
        json.object { json in
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
}
