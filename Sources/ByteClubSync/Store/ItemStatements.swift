import ByteClubCore

/// The statements that are run for every item.
final class ItemStatements {
    let byID: SQLiteStatement
    let byNode: SQLiteStatement
    let byHandle: SQLiteStatement
    let localChildren: SQLiteStatement
    let remoteChildren: SQLiteStatement
    let localNamesakes: SQLiteStatement
    let remoteNamesakes: SQLiteStatement
    let unsettled: SQLiteStatement
    let unseen: SQLiteStatement
    let synced: SQLiteStatement
    private let insert: SQLiteStatement
    private let delete: SQLiteStatement
    private let deleteListing: SQLiteStatement
    private var updates: [UInt64: SQLiteStatement] = [:]
    private let names: [String]
    private let connection: SQLiteConnection

    init(_ connection: SQLiteConnection) throws(SyncError) {
        self.connection = connection
        let select = { (condition: String) throws(SyncError) in
            try connection.prepare("SELECT * FROM item WHERE \(condition)")
        }
        byID = try select("id = ?")
        byNode = try select("coalesce(r_node, last_node) = ? ORDER BY r_node IS NULL, id LIMIT 1")
        byHandle = try select("handle_low = ? AND handle_high = ?")
        localChildren = try select("l_parent = ? AND id <> 0")
        remoteChildren = try select("r_parent = ? AND id <> 0")
        localNamesakes = try select("l_parent = ? AND l_fold = ? AND id <> 0")
        remoteNamesakes = try select("r_parent = ? AND r_fold = ? AND id <> 0")
        unsettled = try select("unsettled = 1 AND id > ? ORDER BY id LIMIT ?")
        unseen = try select("id > ? AND r_generation < ? AND r_parent IS NOT NULL ORDER BY id LIMIT ?")
        synced = try select("id > ? AND s_parent IS NOT NULL ORDER BY id LIMIT ?")
        let marks = Array(repeating: "?", count: ItemRow.columns.count).joined(separator: ",")
        insert = try connection.prepare("INSERT OR REPLACE INTO item VALUES(\(marks))")
        delete = try connection.prepare("DELETE FROM item WHERE id = ?")
        deleteListing = try connection.prepare("DELETE FROM seal WHERE item = ?")
        names = try connection.columns(of: "item")
    }

    /// Finalizes all statements.
    func finalize() {
        for statement in [
            byID, byNode, byHandle, localChildren, remoteChildren, localNamesakes, remoteNamesakes, unsettled, unseen,
            synced, insert, delete, deleteListing,
        ] + updates.values { statement.finalize() }
    }

    /// Forgets an item.
    func forget(_ id: ItemID) throws(SyncError) {
        delete.bind(1, id.number)
        try delete.run()
        deleteListing.bind(1, id.number)
        try deleteListing.run()
    }

    /// Keeps an item; of one that is in the database already, as `known`, only the columns are written that changed.
    func save(_ item: Item, known: Item?) throws(SyncError) {
        let row = ItemRow(item)
        guard let known else {
            bind(row, to: insert)
            return try insert.run()
        }
        let columns = row.difference(from: ItemRow(known))
        if columns == 0 { return }
        let statement = try update(columns)
        statement.bind(bind(row, columns, to: statement), item.id.number)
        try statement.run()
    }

    /// Binds the values of some columns, and returns the place behind them.
    @discardableResult
    private func bind(_ row: ItemRow, _ columns: UInt64 = .max, to statement: SQLiteStatement) -> Int32 {
        var index: Int32 = 1
        for column in ItemRow.columns where columns & column.bit != 0 {
            statement.bind(index, row[column])
            index += 1
        }
        return index
    }

    /// The statement that changes some columns, of which few sets occur.
    private func update(_ columns: UInt64) throws(SyncError) -> SQLiteStatement {
        if let known = updates[columns] { return known }
        if updates.count >= 100 {
            for statement in updates.values { statement.finalize() }
            updates = [:]
        }
        let list = names.enumerated().filter { columns & (1 << UInt64($0.offset)) != 0 }.map { $0.element + " = ?" }
        let statement = try connection.prepare("UPDATE item SET \(list.joined(separator: ", ")) WHERE id = ?")
        updates[columns] = statement
        return statement
    }
}
