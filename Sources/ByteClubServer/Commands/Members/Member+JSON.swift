import ArgumentParser
import ByteClubCore

extension Role: ExpressibleByArgument {
    init?(argument: String) { self.init(word: argument) }

    static var allValueStrings: [String] { allCases.map(\.word) }
}

extension Member: JSONWritable {
    func write(to json: inout JSONText) {
        json.object { json in
            json.key("name")
            json.value(name)
            json.key("uid")
            json.value(uid)
            json.key("role")
            json.value(role.word)
            json.key("created")
            json.value(created.rfc3339)
        }
    }
}

extension NewMember: JSONWritable {
    func write(to json: inout JSONText) {
        json.object { json in
            json.key("name")
            json.value(name)
            json.key("token")
            json.value(token)
            json.key("uid")
            json.value(uid)
            if let oauth1 {
                json.key("oauth_consumer_key")
                json.value(oauth1.consumerKey)
                json.key("oauth_consumer_secret")
                json.value(oauth1.consumerSecret)
                json.key("oauth_token")
                json.value(oauth1.token)
                json.key("oauth_token_secret")
                json.value(oauth1.tokenSecret)
            }
        }
    }
}
