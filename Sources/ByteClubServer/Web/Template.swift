import Mustache

/// The template of a page, in which every value is escaped.
///
/// It is a file of the folder `Templates`, which SwiftPM makes part of the program.
enum Template: String, CaseIterable, Sendable {
    /// What all pages but ``share`` stand in.
    case page
    case account, approve, code, device, done, error, gallery, join, left, members, note, password, photo, reset
    case unowned
    case signIn = "sign-in"
    case share

    /// The look of all pages but ``share``, in the browser's own light or dark.
    static let style = text(PackageResources.style_css)

    /// The look of ``share``, which stands in the page itself.
    static let shareStyle = text(PackageResources.share_css)

    /// The page that comes of some values.
    func render(_ values: Any) -> String { Self.library.render(values, withTemplate: rawValue) ?? "" }

    private static let library: MustacheLibrary = {
        let files = allCases.map { ($0.rawValue, text($0.file)) } + [("share.css", shareStyle)]
        let templates = files.map { name, text in
            do {
                return (name, try HTMLText.template(text))
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
        case .approve: PackageResources.approve_mustache
        case .code: PackageResources.code_mustache
        case .device: PackageResources.device_mustache
        case .done: PackageResources.done_mustache
        case .error: PackageResources.error_mustache
        case .gallery: PackageResources.gallery_mustache
        case .join: PackageResources.join_mustache
        case .left: PackageResources.left_mustache
        case .members: PackageResources.members_mustache
        case .note: PackageResources.note_mustache
        case .password: PackageResources.password_mustache
        case .photo: PackageResources.photo_mustache
        case .reset: PackageResources.reset_mustache
        case .unowned: PackageResources.unowned_mustache
        case .signIn: PackageResources.sign_in_mustache
        case .share: PackageResources.share_mustache
        }
    }

    /// A file's text without the end of its last line.
    private static func text(_ file: [UInt8]) -> String {
        String(decoding: file.last == UInt8(ascii: "\n") ? file.dropLast() : file[...], as: UTF8.self)
    }
}
