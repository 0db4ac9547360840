import ByteClubCore

extension Account: JSONWritable {
    func write(to json: inout JSONText) {
        json.object { json in
            json.key("uid")
            json.value(uid)
            json.key("display_name")
            json.value(displayName)
            json.member("email", email)
            if let isEmailVerified {
                json.key("email_verified")
                json.value(isEmailVerified)
            }
            json.member("country", country)
            json.member("locale", locale)
            if let isPaired {
                json.key("is_paired")
                json.value(isPaired)
            }
            json.key("team")
            if let team { json.value(team) } else { json.null() }
            json.member("referral_link", referralLink)
            if let nameDetails {
                json.key("name_details")
                nameDetails.write(to: &json)
            }
            json.key("quota_info")
            quotaInfo.write(to: &json)
            json.member("role", role)
            if let extensions {
                json.key("byteclub")
                extensions.write(to: &json)
            }
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
            json.key("quota")
            json.value(quota)
            json.key("normal")
            json.value(normal)
            json.key("shared")
            json.value(shared)
            json.key("datastores")
            json.value(datastores)
        }
    }
}

extension Account.Extensions: JSONWritable {
    func write(to json: inout JSONText) {
        json.object { json in
            json.key("version")
            json.value(Int64(version))
            json.key("conditional_delete")
            json.value(conditionalDelete)
            json.key("sync")
            json.value(sync)
            json.key("links")
            json.value(links)
            json.key("history")
            json.value(history)
            json.key("content_search")
            json.value(contentSearch)
            json.key("photo_search")
            json.value(photoSearch)
            json.key("bulk_chunks")
            json.value(bulkChunks)
            json.member("club", club)
        }
    }
}
