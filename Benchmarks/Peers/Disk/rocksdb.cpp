#include "engine.h"

#if __has_include(<rocksdb/db.h>)
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

#include <cstring>

namespace {

void check(const rocksdb::Status &status) {
  if (!status.ok()) fail("RocksDB: " + status.ToString());
}

// A memory cache for all reads, and a filter of 10 bits per key. Values are random, so there is no compression.
struct RocksDB : Engine {
  std::unique_ptr<rocksdb::DB> database;
  rocksdb::WriteOptions synced;

  explicit RocksDB(const std::string &folder) {
    rocksdb::BlockBasedTableOptions table;
    table.block_cache = rocksdb::NewLRUCache(size_t(2) << 30);
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10, false));
    rocksdb::Options options;
    options.create_if_missing = true;
    options.compression = rocksdb::kNoCompression;
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    rocksdb::DB *opened;
    check(rocksdb::DB::Open(options, folder, &opened));
    database.reset(opened);
    synced.sync = true;
  }

  long get(uint64_t key, char *buffer) override {
    KeyBytes bytes(key);
    rocksdb::PinnableSlice value;
    rocksdb::Status status =
        database->Get(rocksdb::ReadOptions(), database->DefaultColumnFamily(), rocksdb::Slice(bytes.bytes, 8), &value);
    if (status.IsNotFound()) return -1;
    check(status);
    std::memcpy(buffer, value.data(), value.size());
    return static_cast<long>(value.size());
  }

  void put(const std::vector<Write> &writes) override {
    rocksdb::WriteBatch batch;
    for (const Write &write : writes) check(batch.Put(rocksdb::Slice(KeyBytes(write.key).bytes, 8), *write.value));
    check(database->Write(synced, &batch));
  }

  void put_synced(const Write &write) override { put({write}); }

  void remove(const std::vector<uint64_t> &keys) override {
    rocksdb::WriteBatch batch;
    for (uint64_t key : keys) check(batch.Delete(rocksdb::Slice(KeyBytes(key).bytes, 8)));
    check(database->Write(synced, &batch));
  }
};

}  // namespace

std::unique_ptr<Engine> open_rocksdb(const std::string &folder) { return std::make_unique<RocksDB>(folder); }
#else
std::unique_ptr<Engine> open_rocksdb(const std::string &) { return nullptr; }
#endif
