#include "CSQLite.h"
#include <time.h>

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
    CSQLITE_LOAD(progress_handler);
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

int csqlite_set_option(const csqlite_functions *functions, struct sqlite3 *database, int option, bool isOn) {
    return functions->db_config(database, option, isOn ? 1 : 0, (int *)0);
}

/// The processor time that this thread has used, in nanoseconds.
static int64_t csqlite_used_time(void) {
    struct timespec time;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0) return 0;
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int csqlite_is_over(void *context) {
    csqlite_time *time = context;
    int64_t now = csqlite_used_time();
    // Asking for the time is a system call, which most statements end without.
    if (time->start < 0) time->start = now;
    return now - time->start > time->limit;
}

void csqlite_set_time(const csqlite_functions *functions, struct sqlite3 *database, csqlite_time *time) {
    functions->progress_handler(database, 1000, csqlite_is_over, time);
}
