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
#define CSQLITE_INTERRUPT 9
#define CSQLITE_CORRUPT 11
#define CSQLITE_FULL 13
#define CSQLITE_NOTADB 26
#define CSQLITE_ROW 100
#define CSQLITE_DONE 101
#define CSQLITE_INTEGER 1
#define CSQLITE_FLOAT 2
#define CSQLITE_TEXT 3
#define CSQLITE_NULL 5
#define CSQLITE_OPEN_READONLY 0x1
#define CSQLITE_OPEN_READWRITE 0x2
#define CSQLITE_OPEN_MEMORY 0x80
#define CSQLITE_OPEN_NOMUTEX 0x8000
#define CSQLITE_OPEN_NOFOLLOW 0x1000000
#define CSQLITE_OPTION_TRIGGERS 1003
#define CSQLITE_OPTION_NO_CHECKPOINT_ON_CLOSE 1006
#define CSQLITE_OPTION_DEFENSIVE 1010
#define CSQLITE_OPTION_VIEWS 1015
#define CSQLITE_OPTION_TRUSTED_SCHEMA 1017

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
    void (*progress_handler)(
        struct sqlite3 *database, int steps, int (*_Nullable handler)(void *_Nullable), void *_Nullable context);
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

/// Sets an option of a connection. Swift cannot call functions with variable arguments.
int csqlite_set_option(const csqlite_functions *functions, struct sqlite3 *database, int option, bool isOn);

/// The processor time that statements of a connection may take, in nanoseconds.
typedef struct {
    /// When they began, as this thread's time; negative to begin with the next statement that takes long.
    int64_t start;
    int64_t limit;
} csqlite_time;

/// Interrupts the statements of a connection that take longer. The time must live as long as the connection.
void csqlite_set_time(const csqlite_functions *functions, struct sqlite3 *database, csqlite_time *time);

#pragma clang assume_nonnull end
