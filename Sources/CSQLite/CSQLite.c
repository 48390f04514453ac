#include "CSQLite.h"

#if defined(__APPLE__)
    #include <sqlite3.h>
    // Cast, because `sqlite3_int64` is another type of the same size, and text is a pointer to characters.
    #define CSQLITE_LOAD(function) functions->function = (__typeof__(functions->function))sqlite3_##function
#elif __has_include(<dlfcn.h>)
    #include <dlfcn.h>
    #define CSQLITE_LOAD(function)                                                     \
        do {                                                                           \
            *(void **)&functions->function = dlsym(library, "sqlite3_" #function);     \
            if (!functions->function) return false;                                    \
        } while (0)
#endif

bool csqlite_load(const char *name, csqlite_functions *functions) {
#if defined(CSQLITE_LOAD)
    #if !defined(__APPLE__)
        void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        if (!library) return false;
    #endif
    CSQLITE_LOAD(libversion_number);
    CSQLITE_LOAD(open_v2);
    CSQLITE_LOAD(close_v2);
    CSQLITE_LOAD(db_config);
    CSQLITE_LOAD(extended_result_codes);
    CSQLITE_LOAD(busy_timeout);
    CSQLITE_LOAD(get_autocommit);
    CSQLITE_LOAD(errmsg);
    CSQLITE_LOAD(prepare_v2);
    CSQLITE_LOAD(finalize);
    CSQLITE_LOAD(step);
    CSQLITE_LOAD(reset);
    CSQLITE_LOAD(clear_bindings);
    CSQLITE_LOAD(bind_int64);
    CSQLITE_LOAD(bind_double);
    CSQLITE_LOAD(bind_text);
    CSQLITE_LOAD(bind_blob);
    CSQLITE_LOAD(column_type);
    CSQLITE_LOAD(column_int64);
    CSQLITE_LOAD(column_double);
    CSQLITE_LOAD(column_blob);
    CSQLITE_LOAD(column_bytes);
    return true;
#else
    return false;
#endif
}

int csqlite_set_checkpoint_on_close(const csqlite_functions *functions, struct sqlite3 *database, bool isOn) {
    // SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE
    return functions->db_config(database, 1006, isOn ? 0 : 1, (int *)0);
}
