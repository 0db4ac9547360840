package import ByteClubHTTP
import FoundationEssentials

/// A catalogue with the iTunes Search API.
package struct SearchAPI: Sendable {
    /// The base URL without a slash at the end.
    package var address: String
    package var session: Session

    package init(address: String, session: Session) {
        self.address = address
        self.session = session
    }

    /// Requests a path, and decodes the answer.
    package func answer<Answer: Decodable>(_ path: String) async throws -> Answer {
        let (bytes, _) = try await session.data(from: "\(address)/\(path)")
        guard let answer = try? JSONDecoder().decode(Answer.self, from: Data(bytes)) else {
            throw Failure(.badData, "\(address) does not answer like the iTunes Search API")
        }
        return answer
    }

    /// The part of a query for the words to search for.
    package static func term(_ words: String) -> String {
        var query = URLComponents()
        query.queryItems = [URLQueryItem(name: "term", value: words)]
        return (query.percentEncodedQuery ?? "").replacing("+", with: "%2B")
    }
}
