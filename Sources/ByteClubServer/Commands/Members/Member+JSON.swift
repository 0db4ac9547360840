import ArgumentParser
import ByteClubCore

extension Role: ExpressibleByArgument {
    init?(argument: String) { self.init(word: argument) }

    static var allValueStrings: [String] { allCases.map(\.word) }
}

extension Member: JSONWritable {
    func write(to json: inout JSONText) {
        json.object { json in
            json.member("name", name)
            json.member("uid", uid)
            json.member("role", role.word)
            json.member("created", created.rfc3339)
        }
    }
}

extension NewMember: JSONWritable {
    func write(to json: inout JSONText) {
        json.object { json in
            json.member("name", name)
            json.member("token", token)
            json.member("uid", uid)
            if let oauth1 {
                json.member("oauth_consumer_key", oauth1.consumerKey)
                json.member("oauth_consumer_secret", oauth1.consumerSecret)
                json.member("oauth_token", oauth1.token)
                json.member("oauth_token_secret", oauth1.tokenSecret)
            }
        }
    }
}
