#include "engine.h"

#if __has_include(<leveldb/db.h>)
#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
#include <leveldb/write_batch.h>

#include <cstring>

namespace {

void check(const leveldb::Status &status) {
  if (!status.ok()) fail("LevelDB: " + status.ToString());
}

// The same settings as RocksDB: a memory cache for all reads, a filter of 10 bits per key, and no compression.
struct LevelDB : Engine {
  std::unique_ptr<leveldb::Cache> cache{leveldb::NewLRUCache(size_t(2) << 30)};
  std::unique_ptr<const leveldb::FilterPolicy> filter{leveldb::NewBloomFilterPolicy(10)};
  std::unique_ptr<leveldb::DB> database;
  leveldb::WriteOptions synced;
  std::string found;

  explicit LevelDB(const std::string &folder) {
    leveldb::Options options;
    options.create_if_missing = true;
    options.compression = leveldb::kNoCompression;
    options.block_cache = cache.get();
    options.filter_policy = filter.get();
    leveldb::DB *opened;
    check(leveldb::DB::Open(options, folder, &opened));
    database.reset(opened);
    synced.sync = true;
  }

  long get(uint64_t key, char *buffer) override {
    KeyBytes bytes(key);
    leveldb::Status status = database->Get(leveldb::ReadOptions(), leveldb::Slice(bytes.bytes, 8), &found);
    if (status.IsNotFound()) return -1;
    check(status);
    std::memcpy(buffer, found.data(), found.size());
    return static_cast<long>(found.size());
  }

  void put(const std::vector<Write> &writes) override {
    leveldb::WriteBatch batch;
    for (const Write &write : writes) batch.Put(leveldb::Slice(KeyBytes(write.key).bytes, 8), *write.value);
    check(database->Write(synced, &batch));
  }

  void put_synced(const Write &write) override { put({write}); }

  void remove(const std::vector<uint64_t> &keys) override {
    leveldb::WriteBatch batch;
    for (uint64_t key : keys) batch.Delete(leveldb::Slice(KeyBytes(key).bytes, 8));
    check(database->Write(synced, &batch));
  }
};

}  // namespace

std::unique_ptr<Engine> open_leveldb(const std::string &folder) { return std::make_unique<LevelDB>(folder); }
#else
std::unique_ptr<Engine> open_leveldb(const std::string &) { return nullptr; }
#endif
