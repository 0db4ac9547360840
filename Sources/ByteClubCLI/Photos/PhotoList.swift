import ByteClubCore

/// Photos of a folder with their properties; as JSON an array of ``EntryObject``s.
struct PhotoList: CommandResult {
    /// The photos in the order of printing.
    var photos: [Metadata]
    /// The folder that names are relative to.
    var folder: RemotePath
    /// The folders that come first.
    var folders = ListedFolders()
    var isVisible: Bool { true }

    /// A placeholder for properties that the server has not read yet.
    private static let pending = "-"

    /// Name, size, dates and properties in columns that fit the terminal, or separated by tabs.
    ///
    /// With tabs, name, bytes and the file's date come first. The time of a photo is the local time of its place.
    func text(_ style: TextStyle) -> String {
        let tells = photos.contains { $0.photoInfo != nil }
        guard tells else { return EntryList(entries: photos, folder: folder, folders: folders).text(style) }
        return style.columns == nil ? tabs(style) : table(style)
    }

    private func tabs(_ style: TextStyle) -> String {
        var table = TextTable()
        table.rows = photos.map { photo in
            let info = photo.photoInfo
            let place = info?.place.map { "\($0.latitude),\($0.longitude)" }
            return [
                photo.path.name(below: folder), photo.isDeleted ? "deleted" : style.size(photo.bytes),
                style.date(photo.fileDate), Self.kind(photo), Self.pixels(photo, "x"),
                info?.taken?.description ?? "", place ?? "",
            ]
        }
        table.rows = folders.rows(for: table, below: folder, style) + table.rows
        return style.list(table)
    }

    private func table(_ style: TextStyle) -> String {
        // Times of the places and of this machine are two columns; an empty one is omitted.
        let hasTimes = photos.contains { $0.photoInfo?.taken != nil }
        let hasOthers = photos.contains { $0.photoInfo?.taken == nil && !$0.isFolder }
        var table = TextTable(
            .init("NAME", isShortened: true), .init("KIND", rank: 3), .init("PIXELS", .right, rank: 5),
            .init("SIZE", .right, rank: 2))
        if hasTimes { table.columns.append(.init("TAKEN", rank: 1)) }
        if hasOthers { table.columns.append(.init("CHANGED", rank: hasTimes ? 4 : 1)) }
        table.columns.append(.init("PLACE", rank: 6))
        table.rows = photos.map { photo in
            let info = photo.photoInfo
            var row = [
                photo.path.name(below: folder) + (photo.isFolder ? "/" : ""), Self.kind(photo),
                Self.pixels(photo, "×"),
                photo.isDeleted ? "deleted" : photo.isFolder ? "" : style.size(photo.bytes),
            ]
            if hasTimes {
                row.append(
                    info?.isPending == true
                        ? Self.pending
                        : info?.taken.map { CalendarTime.utc($0.clock.seconds).description } ?? "")
            }
            if hasOthers { row.append(style.date(photo.fileDate)) }
            return row + [info?.place.map { "\(Self.short($0.latitude)), \(Self.short($0.longitude))" } ?? ""]
        }
        table.rows = folders.rows(for: table, below: folder, style) + table.rows
        return style.list(table)
    }

    private static func kind(_ photo: Metadata) -> String {
        guard let info = photo.photoInfo else { return "" }
        return info.isPending ? pending : info.shape?.kind.rawValue ?? ""
    }

    private static func pixels(_ photo: Metadata, _ times: String) -> String {
        guard let info = photo.photoInfo else { return "" }
        return info.isPending ? pending : info.shape.map { "\($0.width)\(times)\($0.height)" } ?? ""
    }

    /// Degrees in hundredths, about a kilometre.
    private static func short(_ degrees: Double) -> String {
        guard degrees.isFinite, abs(degrees) < 1000 else { return "?" }
        let hundredths = Int((abs(degrees) * 100).rounded())
        let rest = hundredths % 100
        return (degrees < 0 && hundredths > 0 ? "-" : "") + "\(hundredths / 100)." + (rest < 10 ? "0" : "") + "\(rest)"
    }

    func encode(to encoder: any Encoder) throws {
        try (folders.objects + photos.map { EntryObject($0) }).encode(to: encoder)
    }
}
