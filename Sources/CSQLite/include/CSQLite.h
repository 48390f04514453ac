// The few functions of SQLite that this package uses, as a table. On Linux, it is filled from the system's library when
// local data is first opened, so that neither building nor starting a program needs SQLite. On Apple platforms, the
// library is a part of the system and is linked. Android apps bring their own; statically linked programs have none.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

struct sqlite3;
struct sqlite3_stmt;

#define CSQLITE_OK 0
#define CSQLITE_BUSY 5
#define CSQLITE_CORRUPT 11
#define CSQLITE_FULL 13
#define CSQLITE_NOTADB 26
#define CSQLITE_ROW 100
#define CSQLITE_DONE 101
#define CSQLITE_NULL 5
#define CSQLITE_OPEN_READONLY 0x1
#define CSQLITE_OPEN_READWRITE 0x2
#define CSQLITE_OPEN_NOMUTEX 0x8000
#define CSQLITE_OPEN_NOFOLLOW 0x1000000

/// What SQLite calls to release bound bytes. -1 makes it copy them.
typedef void (*csqlite_destructor)(void *_Nullable);

/// Each member is the function `sqlite3_` plus its name. Text is bound as bytes of any type. Sendable, because the
/// functions do not change.
typedef struct __attribute__((swift_attr("@Sendable"))) {
    int (*libversion_number)(void);
    int (*open_v2)(
        const char *path, struct sqlite3 *_Nullable *_Nonnull database, int flags, const char *_Nullable vfs);
    int (*close_v2)(struct sqlite3 *_Nullable database);
    int (*db_config)(struct sqlite3 *database, int option, ...);
    int (*extended_result_codes)(struct sqlite3 *database, int isOn);
    int (*busy_timeout)(struct sqlite3 *database, int milliseconds);
    int (*get_autocommit)(struct sqlite3 *database);
    const char *_Nonnull (*_Nonnull errmsg)(struct sqlite3 *database);
    int (*prepare_v2)(
        struct sqlite3 *database, const char *text, int length, struct sqlite3_stmt *_Nullable *_Nonnull statement,
        const char *_Nullable *_Nullable rest);
    int (*finalize)(struct sqlite3_stmt *_Nullable statement);
    int (*step)(struct sqlite3_stmt *statement);
    int (*reset)(struct sqlite3_stmt *statement);
    int (*clear_bindings)(struct sqlite3_stmt *statement);
    int (*bind_int64)(struct sqlite3_stmt *statement, int index, int64_t value);
    int (*bind_double)(struct sqlite3_stmt *statement, int index, double value);
    int (*bind_text)(
        struct sqlite3_stmt *statement, int index, const void *_Nullable text, int length,
        csqlite_destructor _Nullable release);
    int (*bind_blob)(
        struct sqlite3_stmt *statement, int index, const void *_Nullable bytes, int length,
        csqlite_destructor _Nullable release);
    int (*column_type)(struct sqlite3_stmt *statement, int index);
    int64_t (*column_int64)(struct sqlite3_stmt *statement, int index);
    double (*column_double)(struct sqlite3_stmt *statement, int index);
    const void *_Nullable (*_Nonnull column_blob)(struct sqlite3_stmt *statement, int index);
    int (*column_bytes)(struct sqlite3_stmt *statement, int index);
} csqlite_functions;

/// Fills the table from a library, which is never unloaded. Apple platforms ignore the name.
/// - Returns: false if there is no such library, or if it lacks a function.
bool csqlite_load(const char *name, csqlite_functions *functions);

/// Sets whether closing the last connection writes the log back to the database and removes it. Swift cannot call
/// functions with variable arguments.
int csqlite_set_checkpoint_on_close(const csqlite_functions *functions, struct sqlite3 *database, bool isOn);

#pragma clang assume_nonnull end
