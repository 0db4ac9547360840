import ByteClubCore
import HTTPTypes

/// The menu with which a photo, a note or an album is shared by a link, a part of their pages.
struct ShareMenu: Sendable {
    /// What is shared, in a word.
    let what: String
    /// Where the form is sent.
    let action: String
    /// The link that was just made; nil before.
    let made: MadeLink?
    /// Whether the menu is open.
    let isOpen: Bool
}

/// A link that was just made or changed, as the menu shows it.
struct MadeLink: Sendable {
    let url: String
    let ends: Moment
    let hasPassword: Bool
}

extension WebSite {
    /// Makes a link to a note or an album by a form of its page: `POST /share/<path>`.
    func shareItem(_ visit: Visit, _ member: Member) async throws -> Response {
        let takesJSON = visit.request.headers[values: .accept].contains("application/json")
        let (path, made): (RemotePath, MadeLink)
        do {
            guard member.role >= .editor else { throw Self.viewersChangeNothing }
            path = try Self.path(of: visit)
            made = try await makeLink(to: path, visit, member)
        } catch let error as APIError where takesJSON {
            return .refusal(error)
        }
        if takesJSON { return .object { $0.member("url", made.url) } }
        switch GalleryKind(path.name) {
        case .photo?: return try await photo(path, visit, member, nil, link: made)
        case .note?: return try await note(path, visit, member, nil, link: made)
        case nil: return try await timeline(visit, member, in: path, link: made)
        }
    }

    /// Makes a link with the terms of a form, or changes the member's own.
    ///
    /// - Throws: ``APIError`` 400 for terms that no form has and for a short password, 404 without the entry, 415 when
    ///   the place cannot be taken out of a file.
    func makeLink(to path: RemotePath, _ visit: Visit, _ member: Member) async throws -> MadeLink {
        if path.isRoot { throw APIError(400, "All of the club cannot be shared.") }
        guard let entry = try await store.read({ try $0.live(path) }) else { throw APIError.notFound(path) }
        var terms = Link.Terms(keepsLocation: visit["location"] == "keep")
        if let days = try visit.request.parameters.integer("days", in: 1...366) { terms.lifetime = days * 86_400 }
        if !entry.isFolder, terms.keepsLocation == false {
            let form = try await PlacelessForm(of: entry, try await store.content(of: entry))
            if form == .none {
                throw APIError(415, "This file can be shared only with its location. Tick 'Keep the location'.")
            }
        }
        if let password = visit.request.parameters.value("password"), !password.isEmpty {
            try PasswordHash.checkLength(of: password)
            terms.password = .hash(try await inTurn(visit.request, .known) { try await PasswordHash.make(password) })
        } else if visit["unlock"] != nil {
            terms.password = Link.Terms.Password.none
        }
        do {
            let link = try await store.link(.share, to: entry, by: member.uid, terms)
            return MadeLink(
                url: visit.request.url(link.components, settings), ends: Moment(link.expires),
                hasPassword: link.password != nil)
        } catch let error as StorageError {
            throw ServerFault.refusal(for: error)
        }
    }
}

extension WebSite {
    /// Makes a note with the chosen photos, which a script shows the form to share of: `POST /notes/story`.
    ///
    /// The note is an album with room for text between the pictures, and its link shows them and nothing else.
    func addStory(_ visit: Visit, _ member: Member) async throws -> Response {
        let takesJSON = visit.request.headers[values: .accept].contains("application/json")
        do {
            guard member.role >= .editor else { throw Self.viewersChangeNothing }
            let path = try await storeStory(visit, member)
            let page = Self.url(of: path) + "?share=1"
            return takesJSON ? .object { $0.member("location", page) } : redirect(page)
        } catch let error as APIError where takesJSON {
            return .refusal(error)
        }
    }

    private func storeStory(_ visit: Visit, _ member: Member) async throws -> RemotePath {
        let title = Story.line(visit["title"] ?? "")
        guard !title.isEmpty else { throw APIError(400, "A story needs a title.") }
        let names = (visit["photos"] ?? "").split(whereSeparator: \.isNewline)
        guard (1...SharedStory.mostPhotos).contains(names.count) else {
            throw APIError(400, "A story has 1 to \(SharedStory.mostPhotos) photos.")
        }
        let paths = try names.map { name throws(APIError) -> RemotePath in
            guard let path = try? RemotePath(String(name)), GalleryKind(path.name) == .photo else {
                throw APIError(400, "'\(name.prefix(200))' is not a photo.")
            }
            return path
        }
        let photos = try await store.read { folder in try paths.map { try folder.file($0, revision: nil).path } }
        let notes = try await store.captions(of: photos.map(\.key))
        let captions = photos.map { photo in
            notes[photo.key].map { PhotoCaption(note: String(decoding: $0, as: UTF8.self)).text } ?? ""
        }
        let path = try Self.place(of: Self.noteName(title))
        let text = Story(title: title, photos: Array(zip(photos, captions)), at: path).text
        guard text.utf8.count <= SharedStory.longestNote, let content = StagedContent(inline: Array(text.utf8)) else {
            throw APIError(413, "These are too many photos for one story.")
        }
        do {
            return try await put(content, at: path, by: member).path
        } catch let error as StorageError {
            throw ServerFault.refusal(for: error)
        }
    }
}

/// The text of a note that shows photos under a title.
struct Story {
    /// The most characters of a caption beside a photo.
    private static let longestCaption = 300

    let text: String

    /// A story of photos with their captions, in a note at a path.
    init(title: String, photos: [(path: RemotePath, caption: String)], at note: RemotePath) {
        let pictures = photos.map { photo in
            "![\(Self.escaped(Self.line(String(photo.caption.prefix(Self.longestCaption)))))]"
                + "(\(Self.target(photo.path, from: note)))"
        }
        text = (["# \(Self.escaped(title))"] + pictures).joined(separator: "\n\n") + "\n"
    }

    /// A text as one line without blanks around it.
    static func line(_ text: String) -> String {
        text.split(whereSeparator: { $0.isWhitespace || $0.isNewline }).joined(separator: " ")
    }

    /// A text that means nothing to Markdown.
    private static func escaped(_ text: String) -> String {
        var escaped = String.UnicodeScalarView()
        // An accent on a mark makes it another character, and none to Markdown.
        for scalar in text.unicodeScalars {
            if "\\`*_[]<~".unicodeScalars.contains(scalar) { escaped.append("\\") }
            escaped.append(scalar)
        }
        return String(escaped)
    }

    /// A file as a note names it: relative to the note's folder, with what Markdown would not take escaped.
    static func target(_ file: RemotePath, from note: RemotePath) -> String {
        var (there, here) = (file.components[...], (note.parent?.components ?? [])[...])
        while there.count > 1, let next = here.first, next == there.first {
            (there, here) = (there.dropFirst(), here.dropFirst())
        }
        return (here.map { _ in ".." } + there.map(encoded)).joined(separator: "/")
    }

    private static func encoded(_ name: String) -> String {
        name.unicodeScalars.map { scalar in
            let isPlain =
                scalar.value > 0x20 && scalar.value != 0x7F && !"()<>[]%#?:\\&".unicodeScalars.contains(scalar)
            return isPlain ? String(scalar) : PercentEncoding.encode(String(scalar))
        }.joined()
    }
}
