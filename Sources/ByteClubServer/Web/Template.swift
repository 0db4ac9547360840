import Mustache

/// The values of a page's template: the page's own, and then those that all pages have.
struct PageView: MustacheParent {
    /// The page's own values: a struct or a tuple with a label for each name in the template.
    let own: Any
    /// The token of the page's forms.
    let csrf: String
    /// The club's name; nil for none.
    let club: String?
    /// The signed-in member.
    let member: Member?

    func child(named name: String) -> Any? {
        if let value = Mirror(reflecting: own).children.first(where: { $0.label == name })?.value {
            let mirror = Mirror(reflecting: value)
            if mirror.displayStyle != .optional { return value }
            if let unwrapped = mirror.children.first?.value { return unwrapped }
        }
        return switch name {
        case "csrf": csrf
        case "club": club
        case "member": member?.name
        case "uid": member?.uid
        case "initial": member?.name.first.map { $0.uppercased() }
        case "mayAdd": member.map { $0.role >= .editor }
        case "isOwner": member.map { $0.role == .owner }
        default: nil
        }
    }
}

/// The template of a page, in which every value is escaped.
///
/// It is a file of the folder `Templates`, which SwiftPM makes part of the program.
enum Template: String, CaseIterable, Sendable {
    /// The frame of all pages but ``share``.
    case page
    case account, activity, add, albums, approve, code, deleted, device, done, error, gallery, join, left, members
    case note, notes, password, photo, reset, restore, restored, unowned
    case signIn = "sign-in"
    case newNote = "new-note"
    case noteHistory = "note-history"
    /// The list of notes, a part of their pages.
    case noteList = "note-list"
    /// The form in which notes are written, a part of their pages.
    case noteEditor = "note-editor"
    case share
    /// The menu to share something by a link, a part of pages.
    case shareMenu = "share-menu"

    /// The page with some values.
    func render(_ values: Any) -> String { Self.library.render(values, withTemplate: rawValue) ?? "" }

    private static let library: MustacheLibrary = {
        let files = allCases.map { ($0.rawValue, text($0.file)) }
        let templates = files.map { name, text in
            do {
                return (name, try HTMLText.template(WebFile.addressed(text)))
            } catch {
                preconditionFailure("the template \(name) is malformed: \(error)")
            }
        }
        return MustacheLibrary(templates: Dictionary(uniqueKeysWithValues: templates))
    }()

    private var file: [UInt8] {
        switch self {
        case .page: PackageResources.page_mustache
        case .account: PackageResources.account_mustache
        case .activity: PackageResources.activity_mustache
        case .add: PackageResources.add_mustache
        case .albums: PackageResources.albums_mustache
        case .approve: PackageResources.approve_mustache
        case .code: PackageResources.code_mustache
        case .deleted: PackageResources.deleted_mustache
        case .device: PackageResources.device_mustache
        case .done: PackageResources.done_mustache
        case .error: PackageResources.error_mustache
        case .gallery: PackageResources.gallery_mustache
        case .join: PackageResources.join_mustache
        case .left: PackageResources.left_mustache
        case .members: PackageResources.members_mustache
        case .note: PackageResources.note_mustache
        case .notes: PackageResources.notes_mustache
        case .newNote: PackageResources.new_note_mustache
        case .noteHistory: PackageResources.note_history_mustache
        case .noteList: PackageResources.note_list_mustache
        case .noteEditor: PackageResources.note_editor_mustache
        case .password: PackageResources.password_mustache
        case .photo: PackageResources.photo_mustache
        case .reset: PackageResources.reset_mustache
        case .restore: PackageResources.restore_mustache
        case .restored: PackageResources.restored_mustache
        case .unowned: PackageResources.unowned_mustache
        case .signIn: PackageResources.sign_in_mustache
        case .share: PackageResources.share_mustache
        case .shareMenu: PackageResources.share_menu_mustache
        }
    }

    /// A file's text without the end of its last line.
    private static func text(_ file: [UInt8]) -> String {
        String(decoding: file.last == UInt8(ascii: "\n") ? file.dropLast() : file[...], as: UTF8.self)
    }
}

/// The escaping of values for HTML, in elements and in quoted attributes.
///
/// It escapes scalar by scalar: Mustache's own escaping compares whole characters, and a quotation mark with an accent
/// on it is another character than a quotation mark, though a browser sees the mark.
struct HTMLText: MustacheContentType {
    private static let name = "ESCAPED"
    private static let isRegistered: Void = MustacheContentTypes.register(HTMLText(), named: name)

    /// A template in which every value between two braces is escaped this way.
    static func template(_ text: String) throws -> MustacheTemplate {
        isRegistered
        return try MustacheTemplate(string: "{{% CONTENT_TYPE:\(name)}}" + text)
    }

    func escapeText(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
