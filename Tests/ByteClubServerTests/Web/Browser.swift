import Foundation
import TestSupport
import Testing

@testable import ByteClubServer

/// What a browser does: it keeps the cookies, follows redirects on the same server, and sends a page's forms.
struct Browser {
    let server: TestServer
    var cookie: String?
    /// What says that somebody has signed in here before.
    var mark: String?
    /// What has the gallery greet a new member.
    var greeting: String?
    /// The address that a proxy tells of.
    var address: String?
    /// The page that is shown.
    private(set) var page = ""
    private(set) var status = 0
    /// Where the last answer sent the browser, when that is another server.
    private(set) var elsewhere: String?
    /// The place of the page that is shown.
    private(set) var place = "/"

    init(_ server: TestServer, at address: String? = nil) {
        self.server = server
        self.address = address
    }

    mutating func open(_ target: String) async throws { try await load("GET \(target)", target, body: nil) }

    /// Sends the page's form with an action, with what the page hides in it and these values.
    mutating func submit(_ action: String, _ values: [String: String] = [:]) async throws {
        var fields = values
        let start = try #require(page.range(of: "action=\"\(Self.escaped(action))\""), "no form \(action) in \(page)")
        let form = page[start.upperBound...].prefix { $0 != "\u{0}" }
        let end = form.range(of: "</form>")?.lowerBound ?? form.endIndex
        for match in form[..<end].matches(of: /type="hidden" name="([a-z_]+)" value="([^"]*)"/) {
            if fields[String(match.1)] == nil {
                fields[String(match.1)] = String(match.2).replacingOccurrences(of: "&amp;", with: "&")
            }
        }
        try await send(action, fields)
    }

    /// Sends a form as it is.
    mutating func send(_ target: String, _ fields: [String: String]) async throws {
        let body = fields.map { PercentEncoding.encode($0.key) + "=" + PercentEncoding.encode($0.value) }
            .joined(separator: "&")
        try await load("POST \(target)", target, body: body)
    }

    mutating func signIn(_ name: String, _ password: String) async throws {
        if !page.contains("action=\"/login\"") { try await open("/login") }
        try await submit("/login", ["name": name, "password": password])
    }

    private mutating func load(_ line: String, _ target: String, body: String?) async throws {
        let cookies = [cookie, mark, greeting].compactMap { $0 }
        var fields = cookies.isEmpty ? [] : ["Cookie: " + (["other=1"] + cookies).joined(separator: "; ")]
        if let address { fields.append("X-Forwarded-For: \(address)") }
        if body != nil { fields.append("Content-Type: application/x-www-form-urlencoded") }
        let answer = try await server.send(line, fields, body: Array((body ?? "").utf8))
        for field in answer.fields where field.name.lowercased() == "set-cookie" {
            let text = field.value
            #expect(text.contains("HttpOnly") && text.contains("SameSite=Lax") && text.contains("Path=/"))
            let pair = text.split(separator: ";").first.map(String.init)
            if text.hasPrefix("byteclub-browser=") {
                mark = pair
            } else if text.hasPrefix("byteclub-welcome=") {
                greeting = text.contains("Max-Age=0") ? nil : pair
            } else {
                cookie = pair
            }
        }
        status = answer.status
        place = target
        page = String(decoding: answer.body, as: UTF8.self)
        elsewhere = nil
        if answer.status == 303 {
            let location = try #require(answer["location"])
            // The place within the page is the browser's own affair.
            if location.hasPrefix("/") { return try await open(String(location.prefix { $0 != "#" })) }
            elsewhere = location
        } else if answer["content-type"]?.hasPrefix("text/html") == true {
            #expect(answer["content-security-policy"]?.contains("frame-ancestors 'none'") == true)
        }
    }

    private static func escaped(_ text: String) -> String {
        text.replacingOccurrences(of: "&", with: "&amp;")
    }

    /// A value of the address that the browser was sent to.
    func value(_ name: String) -> String? {
        let parts = (elsewhere ?? "").split(whereSeparator: { "?#&".contains($0) })
        return parts.first { $0.hasPrefix(name + "=") }
            .flatMap { PercentEncoding.decode($0.dropFirst(name.utf8.count + 1), plusIsBlank: true) }
    }
}
