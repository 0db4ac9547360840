// A setting of SQLite that Swift cannot make itself, being a call with a variable number of arguments.
#ifndef BYTECLUB_CSQLITELOG_H
#define BYTECLUB_CSQLITELOG_H

typedef struct sqlite3 sqlite3;
int sqlite3_db_config(sqlite3 *database, int option, ...);

/// SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE: closing the last connection does not carry the log over into the database.
static inline void byteclub_sqlite_keep_log(sqlite3 *database) {
    enum { noCheckpointOnClose = 1006 };
    sqlite3_db_config(database, noCheckpointOnClose, 1, (int *)0);
}

#endif
