import ByteClubHTTP
import ExampleSupport
import FoundationEssentials
import Glibc
import HTTPTypes

/// A URL, and the file to download it to.
struct Target: Sendable {
    let url: String
    let request: HTTPRequest
    let name: String
    /// The file's absolute path.
    let file: String

    /// The file for the resume data of a download in a default session.
    let journal: String
    /// The file that a program with such a download locks.
    let lock: String

    /// Checks URLs, and names their files in a folder.
    ///
    /// - Throws: ``Failure`` for a URL that cannot be downloaded, or two with one file.
    static func all(_ urls: [String], in folder: String) throws(Failure) -> [Target] {
        let folder = URL(filePath: folder, directoryHint: .isDirectory).standardizedFileURL.path
        var targets: [Target] = []
        for url in urls {
            let target = try Target(url, in: folder == "/" ? "" : folder)
            if let other = targets.first(where: { $0.file == target.file }) {
                throw Failure(
                    .usage,
                    "'\(other.url.printable)' and '\(url.printable)' would be one file, '\(target.name)'; "
                        + "download them to two folders")
            }
            targets.append(target)
        }
        return targets
    }

    private init(_ url: String, in folder: String) throws(Failure) {
        do { request = try HTTPRequest(url: url) } catch {
            throw Failure(.usage, "'\(url.printable)' cannot be downloaded: \(error.message)")
        }
        self.url = url
        name = Self.fileName(of: request)
        file = "\(folder)/\(name)"
        journal = "\(folder)/.\(name).resume"
        lock = "\(folder)/.\(name).lock"
    }

    /// Whether a request is for the same URL.
    func isSame(as other: HTTPRequest) -> Bool {
        other.path == request.path && other.authority == request.authority && other.scheme == request.scheme
    }

    /// Whether it was downloaded before: a file exists only when it is complete.
    var isThere: Bool { length != nil }

    /// The file's length; nil if there is none.
    var length: Int64? {
        var status = stat()
        guard unsafe stat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int64(status.st_size)
    }

    /// A safe name from the last part of the URL's path, or the host's where the path ends with a slash.
    private static func fileName(of request: HTTPRequest) -> String {
        let path = (request.path ?? "").prefix { $0 != "?" }
        let last = path.split(separator: "/", omittingEmptySubsequences: false).last.map(String.init) ?? ""
        let decoded = URLComponents(string: "/" + last)?.path.dropFirst() ?? ""
        // An invalid percent-encoding stays as it is.
        let text = decoded.isEmpty ? last : String(decoded)
        // The slash is replaced as a scalar: with an accent it would be another character, but not for the system.
        let safe = text.printable.unicodeScalars.drop { $0 == "." || $0 == " " }.map { $0 == "/" ? "-" : $0 }
        let name = String(String.UnicodeScalarView(safe)).prefix(bytes: 150)
        return name.isEmpty ? (request.authority ?? "download") : name
    }
}
