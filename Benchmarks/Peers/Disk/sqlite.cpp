#include "engine.h"

#if __has_include(<sqlite3.h>)
#include <sqlite3.h>

#include <cstring>

namespace {

// A write-ahead log that each commit syncs, a mapped file, and prepared statements. The key is the table's primary
// key. One connection reads and one writes.
struct SQLite : Engine {
  sqlite3 *reading = nullptr, *writing = nullptr;
  sqlite3_stmt *getting = nullptr, *putting = nullptr, *removing = nullptr;

  explicit SQLite(const std::string &folder) {
    for (sqlite3 **connection : {&writing, &reading}) {
      check(sqlite3_open((folder + "/values.sqlite").c_str(), connection));
      sqlite3_busy_timeout(*connection, 60'000);
      run(*connection, "PRAGMA journal_mode=WAL");
      run(*connection, "PRAGMA synchronous=FULL");
      run(*connection, "PRAGMA mmap_size=68719476736");
      run(*connection, "PRAGMA cache_size=-65536");
    }
    run(writing, "CREATE TABLE IF NOT EXISTS entry(key INTEGER PRIMARY KEY, value BLOB NOT NULL)");
    getting = prepare(reading, "SELECT value FROM entry WHERE key = ?");
    putting = prepare(writing, "INSERT OR REPLACE INTO entry VALUES(?, ?)");
    removing = prepare(writing, "DELETE FROM entry WHERE key = ?");
  }

  ~SQLite() override {
    for (sqlite3_stmt *statement : {getting, putting, removing}) sqlite3_finalize(statement);
    sqlite3_close(reading);
    sqlite3_close(writing);
  }

  long get(uint64_t key, char *buffer) override {
    sqlite3_bind_int64(getting, 1, static_cast<sqlite3_int64>(key));
    long size = -1;
    if (sqlite3_step(getting) == SQLITE_ROW) {
      const void *bytes = sqlite3_column_blob(getting, 0);
      size = sqlite3_column_bytes(getting, 0);
      std::memcpy(buffer, bytes, static_cast<size_t>(size));
    }
    sqlite3_reset(getting);
    return size;
  }

  void put(const std::vector<Write> &writes) override {
    run(writing, "BEGIN IMMEDIATE");
    for (const Write &write : writes) {
      sqlite3_bind_int64(putting, 1, static_cast<sqlite3_int64>(write.key));
      sqlite3_bind_blob(putting, 2, write.value->data(), static_cast<int>(write.value->size()), SQLITE_STATIC);
      step(putting);
    }
    run(writing, "COMMIT");
  }

  void put_synced(const Write &write) override { put({write}); }

  void remove(const std::vector<uint64_t> &keys) override {
    run(writing, "BEGIN IMMEDIATE");
    for (uint64_t key : keys) {
      sqlite3_bind_int64(removing, 1, static_cast<sqlite3_int64>(key));
      step(removing);
    }
    run(writing, "COMMIT");
  }

 private:
  void check(int code) {
    if (code != SQLITE_OK) fail(std::string("SQLite: ") + sqlite3_errmsg(writing));
  }

  void run(sqlite3 *connection, const char *text) { check(sqlite3_exec(connection, text, nullptr, nullptr, nullptr)); }

  void step(sqlite3_stmt *statement) {
    if (sqlite3_step(statement) != SQLITE_DONE) fail(std::string("SQLite: ") + sqlite3_errmsg(writing));
    sqlite3_reset(statement);
  }

  sqlite3_stmt *prepare(sqlite3 *connection, const char *text) {
    sqlite3_stmt *statement;
    check(sqlite3_prepare_v2(connection, text, -1, &statement, nullptr));
    return statement;
  }
};

}  // namespace

std::unique_ptr<Engine> open_sqlite(const std::string &folder) { return std::make_unique<SQLite>(folder); }
#else
std::unique_ptr<Engine> open_sqlite(const std::string &) { return nullptr; }
#endif
