/// The address of a place on a map service, by the setting `map-link`.
///
/// The server never opens it: a page links to it, and a browser follows that on a click only.
struct MapLink: Sendable, Hashable {
    /// What the setting may be.
    static let rule = "an https address with {latitude} and {longitude}, or off"
    /// The longest address.
    private static let longest = 500
    private static let fields = (latitude: "{latitude}", longitude: "{longitude}")

    /// OpenStreetMap with a mark at the place.
    static let openStreetMap = MapLink(
        template: "https://www.openstreetmap.org/?mlat={latitude}&mlon={longitude}#map=15/{latitude}/{longitude}",
        service: "OpenStreetMap")

    /// The address with fields for the degrees north and east.
    let template: String
    /// The name of the service, as pages show it.
    let service: String

    private init(template: String, service: String) {
        self.template = template
        self.service = service
    }

    /// Reads an address; nil for anything but ``rule``.
    init?(_ text: String) {
        let start = "https://"
        guard text.utf8.count <= Self.longest, text.hasPrefix(start), text.contains(Self.fields.latitude),
            text.contains(Self.fields.longitude)
        else { return nil }
        let bare = text.replacing(Self.fields.latitude, with: "0").replacing(Self.fields.longitude, with: "0")
        let isAddress = bare.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"\"'<>\\^`{|}".utf8.contains($0) }
        // The host is as it was written: a field in it would send the place to a host of its own.
        let host = text.dropFirst(start.count).prefix { !"/?#".contains($0) }
        let isHost = host.utf8.allSatisfy { byte in
            (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
                || "-.:[]".utf8.contains(byte)
        }
        guard isAddress, isHost, host.first.map({ $0.isLetter || $0.isNumber || $0 == "[" }) == true else {
            return nil
        }
        self.init(
            template: text,
            service: text == Self.openStreetMap.template ? Self.openStreetMap.service : String(host))
    }

    /// The address of a place in degrees north and east, as texts of digits.
    func url(latitude: String, longitude: String) -> String {
        template.replacing(Self.fields.latitude, with: latitude)
            .replacing(Self.fields.longitude, with: longitude)
    }
}
