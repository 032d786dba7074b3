// The interface of the disk harness to an engine. A value is a byte string. A key has eight bytes, most significant
// first.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

struct Write {
  uint64_t key;
  const std::string *value;
};

struct Engine {
  virtual ~Engine() = default;
  // Copies the value to `buffer`, which is large enough. Returns its size, or -1 if there is no value.
  virtual long get(uint64_t key, char *buffer) = 0;
  // Writes one transaction. A power cut leaves it complete or undone once the next one has returned.
  virtual void put(const std::vector<Write> &writes) = 0;
  // Writes one value, which is durable when the call returns.
  virtual void put_synced(const Write &write) = 0;
  virtual void remove(const std::vector<uint64_t> &keys) = 0;
};

// Opens or creates the engine's files in the folder. Returns null if the engine was not available at build time.
std::unique_ptr<Engine> open_lmdb(const std::string &folder);
std::unique_ptr<Engine> open_rocksdb(const std::string &folder);
std::unique_ptr<Engine> open_leveldb(const std::string &folder);
std::unique_ptr<Engine> open_sqlite(const std::string &folder);
std::unique_ptr<Engine> open_files(const std::string &folder);

struct KeyBytes {
  char bytes[8];
  explicit KeyBytes(uint64_t key) {
    for (int place = 7; place >= 0; place--, key >>= 8) bytes[place] = static_cast<char>(key & 0xFF);
  }
};

[[noreturn]] inline void fail(const std::string &message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::exit(1);
}
