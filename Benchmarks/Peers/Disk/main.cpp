// The disk engines of scripts/compare, except Cistern's: `disk ENGINE FOLDER ENTRIES SIZE`. DiskComparison.swift has
// the same workloads.
#include "engine.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <sys/stat.h>
#include <thread>

namespace {

using Opening = std::function<std::unique_ptr<Engine>(const std::string &)>;
const std::map<std::string, Opening> engines = {
    {"LMDB", open_lmdb}, {"RocksDB", open_rocksdb}, {"LevelDB", open_leveldb}, {"SQLite", open_sqlite}, {"files", open_files}};

constexpr size_t batch_size = 1'000;

double nanoseconds(const std::function<void()> &body) {
  auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

double median_of(int passes, const std::function<void()> &body, const std::function<void()> &prepare = [] {}) {
  std::vector<double> costs;
  for (int pass = 0; pass < passes; pass++) {
    prepare();
    costs.push_back(nanoseconds(body));
  }
  std::sort(costs.begin(), costs.end());
  return costs[costs.size() / 2];
}

uint64_t key_of(uint64_t rank) { return (rank * 0x9E3779B97F4A7C15u) >> 20; }

// Returns the size of the folder's allocated blocks, in bytes.
double space(const std::string &folder) {
  double bytes = 0;
  for (const auto &entry : std::filesystem::recursive_directory_iterator(folder)) {
    struct stat about;
    if (lstat(entry.path().c_str(), &about) == 0) bytes += 512.0 * about.st_blocks;
  }
  return bytes;
}

struct Comparison {
  std::string name, folder;
  Opening open;
  size_t entries, size;
  std::mt19937_64 random{1};
  std::vector<std::string> values;
  std::vector<uint64_t> keys;
  std::vector<char> buffer;
  std::unique_ptr<Engine> engine;

  void run() {
    for (int number = 0; number < 64; number++) {
      std::string value(size, 0);
      for (char &byte : value) byte = static_cast<char>(random());
      values.push_back(value);
    }
    for (size_t rank = 0; rank < entries; rank++) keys.push_back(key_of(rank));
    std::shuffle(keys.begin(), keys.end(), random);
    buffer.resize(size);

    engine = open(folder);
    report("load", "ns", nanoseconds([&] { write(keys); }) / entries);
    engine.reset();
    report("space", "bytes_per_entry", space(folder) / entries);
    opening();
    size_t reads = std::max<size_t>(entries, 50'000), writes = std::min<size_t>(entries / 2, 20'000);
    std::vector<uint64_t> read = drawn(reads), written = drawn(writes);
    get(read);
    report("reads", "ns", median_of(5, [&] { get(read); }) / reads);
    report("writes", "ns", nanoseconds([&] { write(written); }) / writes);
    synced(200);
    reading_and_writing(read);
    std::vector<uint64_t> removed(keys.begin(), keys.begin() + entries / 10);
    report("deletes", "ns", nanoseconds([&] { batches(removed, [&](auto &batch) { engine->remove(batch); }); }) / removed.size());
    engine.reset();
  }

  void opening() {
    // The open engine is closed outside of the measured time.
    report("open", "ns", median_of(7, [&] {
      engine = open(folder);
      get({keys[0]});
    }, [&] { engine.reset(); }));
  }

  void synced(size_t count) {
    std::vector<uint64_t> written = drawn(count);
    report("synced writes", "ns", nanoseconds([&] {
      for (uint64_t key : written) engine->put_synced({key, &value()});
    }) / count);
  }

  // Reads while a writer writes one batch after the other.
  void reading_and_writing(const std::vector<uint64_t> &read) {
    std::atomic<bool> has_ended{false};
    size_t count = 0;
    std::vector<uint64_t> written = drawn(batch_size * 20);
    double spent = 0;
    std::thread writer([&] {
      spent = nanoseconds([&] {
        do {
          write(written);
          count += written.size();
        } while (!has_ended);
      });
    });
    report("reads while writing", "ns", nanoseconds([&] { get(read); }) / read.size());
    has_ended = true;
    writer.join();
    report("writes while reading", "ns", spent / count);
  }

  const std::string &value() { return values[next_value++ % values.size()]; }
  std::atomic<size_t> next_value{0};

  std::vector<uint64_t> drawn(size_t count) {
    std::vector<uint64_t> chosen(count);
    for (uint64_t &key : chosen) key = keys[random() % keys.size()];
    return chosen;
  }

  void get(const std::vector<uint64_t> &wanted) {
    for (uint64_t key : wanted)
      if (engine->get(key, buffer.data()) != static_cast<long>(size)) fail("a miss");
  }

  void write(const std::vector<uint64_t> &written) {
    batches(written, [&](auto &batch) {
      std::vector<Write> writes;
      for (uint64_t key : batch) writes.push_back({key, &value()});
      engine->put(writes);
    });
  }

  void batches(const std::vector<uint64_t> &all, const std::function<void(std::vector<uint64_t> &)> &body) {
    for (size_t start = 0; start < all.size(); start += batch_size) {
      std::vector<uint64_t> batch(all.begin() + start, all.begin() + std::min(start + batch_size, all.size()));
      body(batch);
    }
  }

  void report(const char *workload, const char *metric, double cost) {
    std::printf("disk,%s/%zu/%zu,%s,1,%s,%f\n", workload, size, entries, name.c_str(), metric, cost);
  }
};

}  // namespace

int main(int count, char **arguments) {
  if (count != 6 || std::string(arguments[1]) != "disk" || !engines.count(arguments[2]))
    fail("usage: disk ENGINE FOLDER ENTRIES SIZE");
  std::string folder = std::string(arguments[3]) + "/" + arguments[2];
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  Opening open = engines.at(arguments[2]);
  bool is_there = open(folder) != nullptr;
  if (is_there) {
    Comparison comparison;
    comparison.name = arguments[2];
    comparison.folder = folder;
    comparison.open = open;
    comparison.entries = std::stoul(arguments[4]);
    comparison.size = std::stoul(arguments[5]);
    comparison.run();
  }
  std::filesystem::remove_all(folder);
  return 0;
}
