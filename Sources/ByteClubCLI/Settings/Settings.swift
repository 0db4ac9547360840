import ByteClubCore
import ByteClubHTTP

/// What is set about the club, before it is known whether it is enough: flags, environment or file.
struct Settings: Hashable, Sendable {
    /// The server's address.
    var server: String?
    /// The bearer token; never a flag and never in the settings file.
    var token: String?
    /// The shared folder's path on the server.
    var folder: String?
    /// A PEM file of authorities to trust instead of the system's.
    var certificateAuthorityFile: String?
    /// The only public key that the server may have, as `sha256//` and its hash in Base64.
    var pin: String?
    /// Whether http is allowed to hosts other than this one.
    var allowsInsecureHTTP: Bool?
    /// The rate of photo uploads.
    var rateLimit: String?
    /// The most bytes a second that large files of a mirror take, to the server and from it.
    var uploadLimit: String?
    var downloadLimit: String?
    /// When they are transferred slower than that, or not at all.
    var schedule: String?
    /// Whether a sync shows on the desktop what other members do.
    var notifies: Bool?
    /// Whether syncs and background transfers wait while the network is metered.
    var waitsForUnmetered: Bool?
}

extension Settings {
    /// The settings that the environment makes.
    init(environment: [String: String]) throws {
        let value = { (name: String) in environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        server = value("BYTECLUB_SERVER")
        token = value("BYTECLUB_TOKEN")
        folder = value("BYTECLUB_FOLDER")
        certificateAuthorityFile = value("BYTECLUB_CA_FILE")
        pin = value("BYTECLUB_PIN")
        rateLimit = value("BYTECLUB_LIMIT_RATE")
        uploadLimit = value("BYTECLUB_LIMIT_UP")
        downloadLimit = value("BYTECLUB_LIMIT_DOWN")
        schedule = value("BYTECLUB_SCHEDULE")
        allowsInsecureHTTP = try value("BYTECLUB_INSECURE_HTTP").map { try Self.flag($0, "BYTECLUB_INSECURE_HTTP") }
        notifies = try value("BYTECLUB_NOTIFY").map { try Self.flag($0, "BYTECLUB_NOTIFY") }
        waitsForUnmetered = try value("BYTECLUB_METERED").map { try Self.waits($0, "BYTECLUB_METERED") }
    }

    /// Reads the settings file: lines `name = value`, and comments after `#` at the start of a line.
    init(file text: String, path: String) throws {
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let line = line.trimmed
            if line.isEmpty || line.hasPrefix("#") { continue }
            let place = "\(path):\(index + 1)"
            guard let equals = line.firstIndex(of: "=") else {
                throw Failure(.configuration, "\(place): expected 'name = value'")
            }
            let name = line[..<equals].trimmed
            let value = line[line.index(after: equals)...].trimmed
            switch name {
            case "server": server = value
            case "folder": folder = value
            case "ca-file": certificateAuthorityFile = value
            case "pin": pin = value
            case "limit-rate": rateLimit = value
            case "limit-up": uploadLimit = value
            case "limit-down": downloadLimit = value
            case "schedule": schedule = value
            case "notify": notifies = try Self.flag(value, "notify in \(place)")
            case "metered": waitsForUnmetered = try Self.waits(value, "metered in \(place)")
            case "insecure-http": allowsInsecureHTTP = try Self.flag(value, "insecure-http in \(place)")
            case "token":
                throw Failure(.configuration, "\(place): tokens do not belong here; use 'byteclub login'")
            default:
                throw Failure(
                    .configuration,
                    "\(place): unknown setting '\(name)'; must be one of: server, folder, ca-file, pin, insecure-http, "
                        + "limit-rate, limit-up, limit-down, schedule, notify, metered")
            }
        }
    }

    /// The public keys that the server may have; empty for any.
    ///
    /// - Throws: ``Failure`` when what was set is no key.
    func pinnedKeys() throws -> Set<PublicKeyPin> {
        guard let pin else { return [] }
        guard let key = PublicKeyPin(pin) else {
            throw Failure(
                .configuration, "'\(pin)' is not a key; write sha256// and the key's SHA-256 in Base64, as for curl")
        }
        return [key]
    }

    /// These settings, and the other ones where these say nothing.
    func over(_ other: Settings) -> Settings {
        var merged = other
        merged.server = server ?? other.server
        merged.token = token ?? other.token
        merged.folder = folder ?? other.folder
        merged.certificateAuthorityFile = certificateAuthorityFile ?? other.certificateAuthorityFile
        merged.pin = pin ?? other.pin
        merged.allowsInsecureHTTP = allowsInsecureHTTP ?? other.allowsInsecureHTTP
        merged.rateLimit = rateLimit ?? other.rateLimit
        merged.uploadLimit = uploadLimit ?? other.uploadLimit
        merged.downloadLimit = downloadLimit ?? other.downloadLimit
        merged.schedule = schedule ?? other.schedule
        merged.notifies = notifies ?? other.notifies
        merged.waitsForUnmetered = waitsForUnmetered ?? other.waitsForUnmetered
        return merged
    }

    /// Whether to wait while the network is metered.
    private static func waits(_ text: String, _ name: String) throws -> Bool {
        switch text.lowercased() {
        case "wait": return true
        case "use": return false
        default: throw Failure(.configuration, "invalid value '\(text)' for \(name); must be use or wait")
        }
    }

    private static func flag(_ text: String, _ name: String) throws -> Bool {
        switch text.lowercased() {
        case "1", "true", "yes", "on": return true
        case "0", "false", "no", "off": return false
        default: throw Failure(.configuration, "invalid value '\(text)' for \(name); must be true or false")
        }
    }
}

extension Substring {
    /// The text without blanks and line ends around it.
    var trimmed: String {
        var text = self
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
