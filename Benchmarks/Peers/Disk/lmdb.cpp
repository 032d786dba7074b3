#include "engine.h"

#if __has_include(<lmdb.h>)
#include <lmdb.h>

#include <cstring>

namespace {

void check(int code) {
  if (code) fail(std::string("LMDB: ") + mdb_strerror(code));
}

// Batches skip the sync of the meta page, as Cistern does, and single writes include it. Each read renews one read
// transaction.
struct LMDB : Engine {
  MDB_env *environment = nullptr;
  MDB_txn *reading = nullptr;
  MDB_dbi database = 0;

  explicit LMDB(const std::string &folder) {
    check(mdb_env_create(&environment));
    check(mdb_env_set_mapsize(environment, size_t(64) << 30));
    check(mdb_env_open(environment, folder.c_str(), MDB_NOTLS | MDB_NORDAHEAD | MDB_NOMETASYNC, 0600));
    MDB_txn *writing;
    check(mdb_txn_begin(environment, nullptr, 0, &writing));
    check(mdb_dbi_open(writing, nullptr, 0, &database));
    check(mdb_txn_commit(writing));
    check(mdb_txn_begin(environment, nullptr, MDB_RDONLY, &reading));
    mdb_txn_reset(reading);
  }

  ~LMDB() override {
    mdb_txn_abort(reading);
    mdb_env_close(environment);
  }

  long get(uint64_t key, char *buffer) override {
    KeyBytes bytes(key);
    MDB_val name{8, bytes.bytes}, value;
    check(mdb_txn_renew(reading));
    int code = mdb_get(reading, database, &name, &value);
    if (code == 0) std::memcpy(buffer, value.mv_data, value.mv_size);
    mdb_txn_reset(reading);
    return code == 0 ? static_cast<long>(value.mv_size) : -1;
  }

  void put(const std::vector<Write> &writes) override {
    MDB_txn *writing;
    check(mdb_txn_begin(environment, nullptr, 0, &writing));
    for (const Write &write : writes) {
      KeyBytes bytes(write.key);
      MDB_val name{8, bytes.bytes}, value{write.value->size(), const_cast<char *>(write.value->data())};
      check(mdb_put(writing, database, &name, &value, 0));
    }
    check(mdb_txn_commit(writing));
  }

  void put_synced(const Write &write) override {
    check(mdb_env_set_flags(environment, MDB_NOMETASYNC, 0));
    put({write});
    check(mdb_env_set_flags(environment, MDB_NOMETASYNC, 1));
  }

  void remove(const std::vector<uint64_t> &keys) override {
    MDB_txn *writing;
    check(mdb_txn_begin(environment, nullptr, 0, &writing));
    for (uint64_t key : keys) {
      KeyBytes bytes(key);
      MDB_val name{8, bytes.bytes};
      check(mdb_del(writing, database, &name, nullptr));
    }
    check(mdb_txn_commit(writing));
  }
};

}  // namespace

std::unique_ptr<Engine> open_lmdb(const std::string &folder) { return std::make_unique<LMDB>(folder); }
#else
std::unique_ptr<Engine> open_lmdb(const std::string &) { return nullptr; }
#endif
