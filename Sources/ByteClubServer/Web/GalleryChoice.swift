import ByteClubCore

/// What a page of the gallery shows, as its address tells it.
struct GalleryChoice {
    /// The names of the fields in an address.
    private static let names = ["show", "near", "from", "to", "who", "q"]

    /// The items.
    private(set) var filter: GalleryFilter
    /// The fields of the address, as they were sent.
    private(set) var fields: [(name: String, value: String)]

    /// Reads the fields of a visit's address.
    ///
    /// - Throws: ``APIError`` 404 for a value that no link or form sends, 400 for search words without a letter.
    init(_ visit: Visit, in folder: RemotePath) throws(APIError) {
        var filter = GalleryFilter(folder: folder)
        func read<T>(_ name: String, _ convert: (String) -> T?) throws(APIError) -> T? {
            guard let text = visit[name] else { return nil }
            guard let value = convert(text) else { throw APIError(404, "Page not found.") }
            return value
        }
        filter.content = try read("show") { GalleryFilter.Content(rawValue: $0) } ?? .all
        filter.near = try read("near") { GeographicCircle($0) }
        filter.since = try read("from") { Self.month($0, isEnd: false) }
        filter.until = try read("to") { Self.month($0, isEnd: true) }
        filter.author = try read("who") { Int64($0) }
        if let words = visit["q"] { filter.words = try TextQuery(words) }
        self.filter = filter
        fields = Self.names.compactMap { name in visit[name].map { (name, $0) } }
    }

    /// A field's value as it was sent.
    subscript(_ name: String) -> String? { fields.first { $0.name == name }?.value }

    /// The address of the first page with this choice, or with another value of one field.
    func address(
        _ change: (name: String, value: String?)? = nil, at place: (name: String, place: GalleryPlace)? = nil
    ) -> String {
        var values = fields.filter { $0.name != change?.name }
        if let change, let value = change.value { values.append((change.name, value)) }
        if let place { values.append((place.name, "\(place.place)")) }
        return base + (values.isEmpty ? "" : "?" + Self.query(values))
    }

    /// The address without a query.
    var base: String {
        filter.folder == .root ? "/gallery" : "/albums" + WebSite.components(of: filter.folder)
    }

    /// The query with which a script asks for the index and for items.
    var scriptQuery: String {
        Self.query(fields + (filter.folder == .root ? [] : [("in", filter.folder.string)]))
    }

    private static func query(_ fields: [(name: String, value: String)]) -> String {
        fields.map { "\($0.name)=\(PercentEncoding.encode($0.value))" }.joined(separator: "&")
    }

    /// The first second of a month such as `2026-08`, or of the next one; nil for another text.
    private static func month(_ text: String, isEnd: Bool) -> APIDate? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard text.utf8.count == 7, parts.count == 2, parts[0].utf8.count == 4,
            text.utf8.allSatisfy({ $0 == UInt8(ascii: "-") || (48...57).contains($0) }),
            var year = Int(parts[0]), var month = Int(parts[1]), (1...12).contains(month)
        else { return nil }
        if isEnd { (year, month) = month == 12 ? (year + 1, 1) : (year, month + 1) }
        let two = { (number: Int, digits: Int) in
            String(repeating: "0", count: max(0, digits - String(number).count)) + String(number)
        }
        return APIDate(rfc3339: "\(two(year, 4))-\(two(month, 2))-01T00:00:00Z")
    }

    /// The links to the kinds of items.
    var contents: [(name: String, url: String, isChosen: Bool)] {
        GalleryFilter.Content.allCases.map { content in
            (
                String(content.rawValue.prefix(1)).uppercased() + content.rawValue.dropFirst(),
                address(("show", content == .all ? nil : content.rawValue)), content == filter.content
            )
        }
    }

    /// The filters in words, each with a link to the page without it.
    func removals(_ members: [(uid: Int64, name: String)]) -> [(name: String, url: String)] {
        fields.compactMap { field in
            let words: String
            switch field.name {
            case "near": words = "Near \(field.value)"
            case "from": words = "From \(field.value)"
            case "to": words = "Until \(field.value)"
            case "who": words = "By \(members.first { $0.uid == filter.author }?.name ?? "a former member")"
            case "q": words = "“\(field.value)”"
            default: return nil
            }
            return (words, address((field.name, nil)))
        }
    }

    /// Links to months, under their years, by the newest date of each.
    func years(_ months: [APIDate]) -> [(year: String, months: [(name: String, url: String)])] {
        var years: [(year: String, months: [(name: String, url: String)])] = []
        for newest in months {
            // As in `2026-08-05T16:40:12Z`, and in `05 Aug 2026`.
            let year = String(newest.rfc3339.prefix { $0 != "-" })
            if years.last?.year != year { years.append((year, [])) }
            let place = GalleryPlace(seconds: newest.seconds + 1, revision: 0)
            years[years.count - 1].months.append(
                (String(WebSite.day(newest).dropFirst(3).prefix(3)), address(at: ("before", place))))
        }
        return years
    }
}
