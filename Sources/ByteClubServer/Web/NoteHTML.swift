import ByteClubCore

/// A note's Markdown as HTML.
///
/// All text is escaped, raw HTML too. Addresses lead to `http`, `https` and `mailto` only; what other files of the club a
/// link or a picture may show decides the page, and everything else is plain text.
struct NoteHTML {
    /// What a note may show of another file.
    enum Target {
        /// The page of a file, by its address.
        case page(String)
        /// A photo, with the address of its page.
        case photo(PhotoTile)
    }

    /// The HTML.
    private(set) var html = ""

    /// What is behind a target that is no address with a scheme; nil shows the text alone.
    private let target: (String) -> Target?
    /// The form that ticks tasks off; nil where nobody can.
    private let form: String?
    /// How many levels headings are lower than they are written.
    private var shift = 0
    private var isInLink = false

    /// Renders a text without links to other files.
    init(_ note: String) {
        self.init(Markdown(note)) { _ in nil }
    }

    /// Renders a note.
    ///
    /// - Parameters:
    ///   - note: The note.
    ///   - form: The identifier of the form that ticks tasks off; nil where nobody can.
    ///   - target: What is behind a target that is no address with a scheme; nil shows the text alone.
    init(_ note: Markdown, form: String? = nil, target: @escaping (String) -> Target?) {
        self.target = target
        self.form = form
        // The page itself has the first level.
        shift = 2 - (Self.levels(note.blocks).min() ?? 2)
        write(note.blocks)
    }

    /// The HTML of a part of a line, without links.
    static func text(_ inlines: [Markdown.Inline]) -> String {
        var writer = NoteHTML("")
        writer.isInLink = true
        writer.write(inlines)
        return writer.html
    }

    private static func levels(_ blocks: [Markdown.Block]) -> [Int] {
        blocks.flatMap { (block: Markdown.Block) -> [Int] in
            switch block {
            case .heading(let level, _): [level]
            case .list(let list): list.items.flatMap { levels($0.blocks) }
            case .quotation(let inner): levels(inner)
            case .paragraph, .code, .table, .rule: []
            }
        }
    }

    // MARK: - Blocks

    private mutating func write(_ blocks: [Markdown.Block]) {
        for block in blocks { write(block) }
    }

    private mutating func write(_ block: Markdown.Block) {
        switch block {
        case .heading(let level, let inlines):
            let level = min(6, level + shift)
            html += "<h\(level)>"
            write(inlines)
            html += "</h\(level)>\n"
        case .paragraph(let inlines):
            if let photos = photos(inlines) { return write(photos) }
            html += "<p>"
            write(inlines)
            html += "</p>\n"
        case .list(let list): write(list)
        case .quotation(let inner):
            html += "<blockquote>\n"
            write(inner)
            html += "</blockquote>\n"
        case .code(let text, _):
            html += "<pre tabindex=\"0\"><code>" + Self.escape(text) + "</code></pre>\n"
        case .table(let table): write(table)
        case .rule: html += "<hr>\n"
        }
    }

    private mutating func write(_ list: Markdown.List) {
        let name = list.start == nil ? "ul" : "ol"
        let start = list.start.flatMap { $0 == 1 ? nil : " start=\"\($0)\"" } ?? ""
        let isTasks = list.items.contains { $0.task != nil }
        html += "<\(name)\(start)\(isTasks ? " class=\"tasks\"" : "")>\n"
        for item in list.items {
            html += item.task.map { "<li class=\"\($0.isDone ? "task done" : "task")\">" } ?? "<li>"
            if let task = item.task { write(task) }
            var blocks = item.blocks[...]
            // The text of a task is the name of its box, and a tight list has no paragraphs.
            if case .paragraph(let inlines)? = blocks.first, list.isTight || item.task != nil, photos(inlines) == nil {
                if let task = item.task { html += "<span id=\"task-\(task.line)\">" }
                write(inlines)
                if item.task != nil { html += "</span>" }
                blocks.removeFirst()
                if !blocks.isEmpty { html += "\n" }
            }
            for block in blocks {
                if list.isTight, case .paragraph(let inlines) = block, photos(inlines) == nil {
                    write(inlines)
                } else {
                    write(block)
                }
            }
            html += "</li>\n"
        }
        html += "</\(name)>\n"
    }

    private mutating func write(_ task: Markdown.Task) {
        let state = "role=\"checkbox\" aria-checked=\"\(task.isDone)\" aria-labelledby=\"task-\(task.line)\""
        if let form {
            html += "<button class=\"box\" form=\"\(Self.escape(form))\" name=\"line\" value=\"\(task.line)\" \(state)>"
            html += "</button>"
        } else {
            html += "<span class=\"box\" aria-disabled=\"true\" \(state)></span>"
        }
    }

    private mutating func write(_ table: Markdown.Table) {
        func start(_ name: String, _ column: Markdown.Table.Alignment) -> String {
            let align =
                switch column {
                case .natural, .left: ""
                case .center: " class=\"center\""
                case .right: " class=\"right\""
                }
            return "<\(name)\(name == "th" ? " scope=\"col\"" : "")\(align)>"
        }
        func row(_ cells: [[Markdown.Inline]], _ name: String) {
            html += "<tr>"
            for (cell, column) in zip(cells, table.columns) {
                html += start(name, column)
                write(cell)
                html += "</\(name)>"
            }
            // Cells that are not there are one: a short row of a wide table is not made many times longer.
            let missing = table.columns.count - cells.count
            if missing == 1, let column = table.columns.last { html += start(name, column) + "</\(name)>" }
            if missing > 1 { html += "<td colspan=\"\(missing)\"></td>" }
            html += "</tr>\n"
        }
        html += "<div class=\"table\" tabindex=\"0\" role=\"group\" aria-label=\"Table\"><table>\n<thead>"
        row(table.header, "th")
        html += "</thead>\n<tbody>\n"
        for cells in table.rows { row(cells, "td") }
        html += "</tbody></table></div>\n"
    }

    // MARK: - Photos

    private typealias Shown = (tile: PhotoTile, text: String)

    /// The photos of a paragraph that has nothing else.
    private func photos(_ inlines: [Markdown.Inline]) -> [(tile: PhotoTile, text: String)]? {
        var photos: [Shown] = []
        for inline in inlines {
            switch inline {
            case .image(let text, let address):
                guard case .photo(let tile)? = found(address) else { return nil }
                photos.append((tile, text))
            case .softBreak, .lineBreak: continue
            default: return nil
            }
        }
        return photos.isEmpty ? nil : photos
    }

    private mutating func write(_ photos: [(tile: PhotoTile, text: String)]) {
        html += "<div class=\"photos\(photos.count > 1 ? " several" : "")\">\n"
        for (tile, text) in photos {
            html += "<figure\(tile.isWide ? " class=\"wide\"" : "")>"
            write(tile, text)
            let caption = text.isEmpty ? tile.caption ?? "" : text
            if !caption.isEmpty { html += "<figcaption>\(Self.escape(caption))</figcaption>" }
            html += "</figure>\n"
        }
        html += "</div>\n"
    }

    private mutating func write(_ tile: PhotoTile, _ text: String) {
        let alt = text.isEmpty ? tile.alt : text
        let sources = tile.srcset.map {
            " srcset=\"\(Self.escape($0))\" sizes=\"(min-width: 50rem) 44rem, 94vw\""
        }
        let size = "width=\"\(tile.width ?? 512)\" height=\"\(tile.height ?? 512)\""
        let image =
            "<img src=\"\(Self.escape(tile.src))\"\(sources ?? "") \(size) alt=\"\(Self.escape(alt))\" "
            + "loading=\"lazy\" decoding=\"async\"\(isInLink ? "" : Self.viewerData(of: tile))>"
        if isInLink { return html += image }
        html += "<a class=\"photo\" href=\"\(Self.escape(tile.url))\">" + image
        if let badge = tile.badge { html += "<span class=\"badge\">\(Self.escape(badge))</span>" }
        html += "</a>"
    }

    /// What a script needs to look around in a panorama where it stands; empty for what is no surrounding.
    private static func viewerData(of tile: PhotoTile) -> String {
        switch tile.shape?.kind {
        case .sphere, .partialSphere, .cylinder: break
        case .strip, .flat, nil: return ""
        }
        let values: [(name: String, value: String?)] = [
            ("kind", tile.kind), ("hfov", tile.hfov), ("vfov", tile.vfov), ("yaw", tile.yaw), ("pitch", tile.pitch),
            ("heading", tile.heading), ("width", tile.width.map { "\($0)" }), ("height", tile.height.map { "\($0)" }),
            ("tiles", tile.tiles.map { "\($0)" }), ("base", tile.base),
        ]
        return values.compactMap { name, value in value.map { " data-\(name)=\"\(escape($0))\"" } }.joined()
    }

    private func found(_ address: String) -> Target? {
        Markdown.hasScheme(address) || address.hasPrefix("//") ? nil : target(address)
    }

    // MARK: - Within a line

    private mutating func write(_ inlines: [Markdown.Inline]) {
        for inline in inlines {
            switch inline {
            case .text(let text): html += Self.escape(text)
            case .code(let text): html += "<code>\(Self.escape(text))</code>"
            case .emphasis(let inner): write(inner, in: "em")
            case .strong(let inner): write(inner, in: "strong")
            case .strike(let inner): write(inner, in: "del")
            case .lineBreak: html += "<br>\n"
            case .softBreak: html += "\n"
            case .link(let inner, let address): write(inner, linkedTo: address)
            case .image(let text, let address): writeImage(text, address)
            }
        }
    }

    private mutating func write(_ inner: [Markdown.Inline], in element: String) {
        html += "<\(element)>"
        write(inner)
        html += "</\(element)>"
    }

    private mutating func write(_ inner: [Markdown.Inline], linkedTo address: String) {
        var start: String?
        if !isInLink {
            if Self.isAllowed(address) {
                start = "<a href=\"\(Self.escape(address))\" rel=\"noreferrer\">"
            } else {
                switch found(address) {
                case .page(let url)?: start = "<a href=\"\(Self.escape(url))\">"
                case .photo(let tile)?: start = "<a href=\"\(Self.escape(tile.url))\">"
                case nil: break
                }
            }
        }
        guard let start else { return write(inner) }
        html += start
        isInLink = true
        write(inner)
        isInLink = false
        html += "</a>"
    }

    private mutating func writeImage(_ text: String, _ address: String) {
        switch found(address) {
        case .photo(let tile)?: write(tile, text)
        case .page(let url)? where !isInLink:
            html += "<a href=\"\(Self.escape(url))\">\(Self.escape(text.isEmpty ? address : text))</a>"
        case .page?, nil:
            // A picture of another site is not loaded: it would learn who reads.
            if Self.isAllowed(address), !isInLink {
                let words = Self.escape(text.isEmpty ? address : text)
                html += "<a href=\"\(Self.escape(address))\" rel=\"noreferrer\">\(words)</a>"
            } else {
                html += Self.escape(text.isEmpty ? address : text)
            }
        }
    }

    private static func escape(_ text: String) -> String { HTMLText().escapeText(text) }

    private static func isAllowed(_ address: String) -> Bool {
        let folded = address.prefix(8).lowercased()
        let isKnown = ["http://", "https://", "mailto:"].contains { scheme in
            folded.hasPrefix(scheme) && address.utf8.count > scheme.utf8.count
        }
        return isKnown && address.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7F }
    }
}
