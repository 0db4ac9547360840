import ByteClubCore
import FoundationEssentials
import GRDB

extension Schema {
    /// Version 13: the live notes and photos are kept by date, and photos by kind and place.
    ///
    /// `gallery_source` defines the rows of `gallery_item`; triggers maintain them for every writer. `kind` is NULL for
    /// a note, and empty for a photo of unknown kind. `caption_view` has, by the hashes of captions, how they want
    /// their photos to be seen, if they do.
    @Sendable static func addGallery(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE caption_view(hash BLOB PRIMARY KEY, view TEXT NOT NULL) WITHOUT ROWID, STRICT;
                CREATE INDEX version_caption ON version(hash) WHERE \(isCaptionPath);
                CREATE TABLE gallery_item(
                    revision INTEGER PRIMARY KEY, date INTEGER NOT NULL, kind TEXT, pending INTEGER NOT NULL,
                    latitude REAL, longitude REAL) STRICT;
                CREATE VIEW gallery_source AS
                    SELECT l.key, l.revision, coalesce(m.taken, v.client_modified / 1000000000, v.modified) AS date,
                        iif(\(isPhoto("l.key")), iif(m.kind IS NULL, '', coalesce((
                            SELECT c.view FROM latest b JOIN version w ON w.revision = b.revision
                            JOIN caption_view c ON c.hash = w.hash WHERE b.key = l.key || '.md' AND w.kind = 0
                        ), m.kind)), NULL) AS kind,
                        \(isPhoto("l.key")) AND m.hash IS NULL AS pending, m.latitude, m.longitude
                    FROM latest l JOIN version v ON v.revision = l.revision
                    LEFT JOIN media_info m ON m.hash = v.hash AND \(isPhoto("l.key"))
                    WHERE v.kind = 0 AND (\(isNote("l.key")) OR \(isPhoto("l.key")));
                """)
        let captions = try Row.fetchAll(
            db,
            sql: """
                SELECT hash, bytes FROM content WHERE hash IN (SELECT hash FROM version WHERE \(isCaptionPath))
                """)
        for row in captions {
            guard let view = PhotoCaption(note: String(decoding: row.bytes(1) ?? [], as: UTF8.self)).view else {
                continue
            }
            try db.execute(
                sql: "INSERT INTO caption_view(hash, view) VALUES (?, ?)",
                arguments: [row[0] as Data, view.rawValue])
        }
        try db.execute(
            sql: """
                INSERT INTO gallery_item SELECT \(item) FROM gallery_source;
                CREATE INDEX gallery_date ON gallery_item(date, revision);
                CREATE INDEX gallery_photo ON gallery_item(date, revision) WHERE kind IS NOT NULL;
                CREATE INDEX gallery_kind ON gallery_item(kind, date, revision) WHERE kind IS NOT NULL;
                CREATE INDEX gallery_place ON gallery_item(latitude, longitude) WHERE latitude IS NOT NULL;
                CREATE INDEX gallery_pending ON gallery_item(revision) WHERE pending = 1;
                CREATE TRIGGER note_added AFTER INSERT ON latest WHEN \(isNote("NEW.key")) BEGIN
                    \(insertNote);
                END;
                CREATE TRIGGER note_changed AFTER UPDATE ON latest WHEN \(isNote("NEW.key")) BEGIN
                    DELETE FROM gallery_item WHERE revision = OLD.revision;
                    \(insertNote);
                END;
                CREATE TRIGGER photo_added AFTER INSERT ON latest WHEN \(isPhoto("NEW.key")) BEGIN
                    INSERT INTO gallery_item SELECT \(item) FROM gallery_source WHERE key = NEW.key;
                END;
                CREATE TRIGGER photo_changed AFTER UPDATE ON latest WHEN \(isPhoto("NEW.key")) BEGIN
                    DELETE FROM gallery_item WHERE revision = OLD.revision;
                    INSERT INTO gallery_item SELECT \(item) FROM gallery_source WHERE key = NEW.key;
                END;
                CREATE TRIGGER caption_added AFTER INSERT ON latest WHEN \(isCaption("NEW.key")) BEGIN
                    UPDATE gallery_item SET kind = s.kind FROM gallery_source s
                        WHERE s.key = \(photo("NEW.key")) AND gallery_item.revision = s.revision;
                END;
                CREATE TRIGGER caption_changed AFTER UPDATE ON latest WHEN \(isCaption("NEW.key")) BEGIN
                    UPDATE gallery_item SET kind = s.kind FROM gallery_source s
                        WHERE s.key = \(photo("NEW.key")) AND gallery_item.revision = s.revision;
                END;
                CREATE TRIGGER media_info_found AFTER INSERT ON media_info BEGIN
                    UPDATE gallery_item SET (date, kind, pending, latitude, longitude) =
                            (s.date, s.kind, s.pending, s.latitude, s.longitude)
                        FROM gallery_source s
                        WHERE gallery_item.revision = s.revision AND s.key IN (
                            SELECT t.key FROM version INDEXED BY version_photo
                            JOIN latest t ON t.revision = version.revision
                            WHERE version.hash = NEW.hash AND \(SQLiteStore.isPhoto));
                END;
                CREATE TRIGGER caption_view_found AFTER INSERT ON caption_view BEGIN
                    UPDATE gallery_item SET kind = s.kind FROM gallery_source s
                        WHERE gallery_item.revision = s.revision AND s.key IN (
                            SELECT \(photo("t.key")) FROM version INDEXED BY version_caption
                            JOIN latest t ON t.revision = version.revision
                            WHERE version.hash = NEW.hash AND \(isCaptionPath));
                END;
                """)
    }

    /// Version 16: photos are kept by clocks at their places, and all else by the server's clock.
    ///
    /// Photos are read again, since only the moment was kept of those with an offset; until then they keep their dates.
    /// A date does not change with the server's zone.
    @Sendable static func keepClocks(_ db: Database) throws {
        try db.execute(sql: "ALTER TABLE media_info ADD COLUMN taken_offset INTEGER")
        try change("view", "gallery_source", "coalesce(m.taken, v.client_modified / 1000000000, v.modified)", db) { _ in
            "coalesce(m.taken, \(clock("coalesce(v.client_modified / 1000000000, v.modified)")))"
        }
        let moment = "coalesce(client_modified / 1000000000, modified)"
        for trigger in ["note_added", "note_changed"] { try change("trigger", trigger, moment, db) { clock($0) } }
        try db.execute(
            sql: """
                DELETE FROM media_info WHERE version < 4;
                UPDATE gallery_item SET pending = 1 WHERE revision IN (
                    SELECT revision FROM gallery_source WHERE pending = 1);
                UPDATE gallery_item SET date = coalesce((SELECT \(clock(moment)) FROM version v
                    WHERE v.revision = gallery_item.revision), date)
                WHERE kind IS NULL
                """)
    }

    /// Version 17: photos have a few colours for the time until they are there; the server adds those of older ones.
    static let addPlaceholders = "ALTER TABLE media_info ADD COLUMN placeholder BLOB"

    /// Replaces a piece of the text of a view or a trigger.
    private static func change(
        _ type: String, _ name: String, _ piece: String, _ db: Database, _ replacement: (String) -> String
    ) throws {
        let old = try String.fetchOne(db, sql: "SELECT sql FROM sqlite_schema WHERE name = ?", arguments: [name]) ?? ""
        guard old.contains(piece) else {
            throw StorageError(.damaged, "the database's \(type) \(name) is not what this program made")
        }
        try db.execute(sql: "DROP \(type) \(name); \(old.replacing(piece, with: replacement(piece)))")
    }

    /// The server's local time at a moment in seconds since 1970; the moment itself where SQLite has no such date.
    private static func clock(_ moment: String) -> String {
        "coalesce(CAST(strftime('%s', \(moment), 'unixepoch', 'localtime') AS INTEGER), \(moment))"
    }

    private static let item = "revision, date, kind, pending, latitude, longitude"
    /// As the source has it, in half the time: notes are written more often than anything else.
    private static let insertNote = """
        INSERT INTO gallery_item
            SELECT revision, coalesce(client_modified / 1000000000, modified), NULL, 0, NULL, NULL
            FROM version WHERE revision = NEW.revision AND kind = 0
        """

    // Keys are folded, paths are not. Databases contain these conditions, so they stay when those of the program
    // change.
    private static func isPhoto(_ key: String) -> String {
        "(substr(\(key), -4) IN ('.jpg', '.png') OR substr(\(key), -5) = '.jpeg')"
    }
    private static func isCaption(_ key: String) -> String {
        "(substr(\(key), -7) IN ('.jpg.md', '.png.md') OR substr(\(key), -8) = '.jpeg.md')"
    }
    private static func isNote(_ key: String) -> String {
        "(substr(\(key), -3) = '.md' OR substr(\(key), -4) = '.txt' OR substr(\(key), -9) = '.markdown')"
    }
    private static let isCaptionPath = """
        hash IS NOT NULL AND (lower(substr(path, -7)) IN ('.jpg.md', '.png.md') OR lower(substr(path, -8)) = '.jpeg.md')
        """
    private static func photo(_ caption: String) -> String { "substr(\(caption), 1, length(\(caption)) - 3)" }
}
