import ArgumentParser
import ByteClubCore

extension ListingOrder: ExpressibleByArgument {}

/// The filter and order of a list.
struct ListingOptions: ParsableArguments {
    @Flag(name: .shortAndLong, help: "List folders recursively.")
    var recursive = false

    @Flag(help: "List removed entries, which can be restored.")
    var deleted = false

    @Option(help: "Sort by name, date, size, or stored (time of upload); newest and largest first.")
    var sort = ListingArrangement().order

    @Flag(help: "Reverse the order.")
    var reverse = false

    @Option(help: "List at most this many entries, not counting folders.")
    var limit: Int?

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be at least 1") }
    }

    /// Where to look.
    var listing: FolderListing {
        FolderListing(isDeleted: deleted, isRecursive: recursive, hasFolders: !deleted && !recursive)
    }

    /// The order and limit.
    var arrangement: ListingArrangement { ListingArrangement(order: sort, isReversed: reverse, limit: limit) }
}

/// The order and limit of a list.
struct ListingArrangement: Sendable {
    var order = ListingOrder.name
    var isReversed = false
    var limit: Int?

    /// Sorts entries for a list: existing folders first, by name and with their counts from `folders`, then the rest.
    func list(
        _ entries: [Metadata], below folder: RemotePath, _ calendar: (Int64) -> CalendarTime,
        folders: ListedFolders = .init()
    ) -> EntryList {
        let isLiveFolder = { (entry: Metadata) in entry.isFolder && !entry.isDeleted }
        var folders = folders
        folders.entries = ListingOrder.name.sorted(entries.filter(isLiveFolder), below: folder)
        var sorted = order.sorted(entries.filter { !isLiveFolder($0) }, below: folder, calendar)
        if isReversed {
            folders.entries.reverse()
            sorted.reverse()
        }
        return EntryList(entries: Array(sorted.prefix(limit ?? .max)), folder: folder, folders: folders)
    }
}
