// What the disk harness asks of an engine. A value is bytes; a key is eight of them, most significant first.
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
  // Copies the value to `buffer`, which is large enough; its size, or -1 where there is none.
  virtual long get(uint64_t key, char *buffer) = 0;
  // One transaction, which a power cut leaves whole or undone once the next one has returned.
  virtual void put(const std::vector<Write> &writes) = 0;
  // On disk when it returns, whatever happens then.
  virtual void put_synced(const Write &write) = 0;
  virtual void remove(const std::vector<uint64_t> &keys) = 0;
};

// Opens what is in the folder, or begins it; null where the engine was not there to build with.
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
