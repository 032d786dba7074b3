#include "engine.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

void check(bool succeeded, const char *what) {
  if (!succeeded) fail(std::string("files: ") + what);
}

// One file per entry, in 256 folders. Each file is written under another name and then renamed. Writes and removals
// are synced with the whole file system once per batch.
struct Files : Engine {
  std::string folder;
  int directory;

  explicit Files(const std::string &folder) : folder(folder) {
    directory = open(folder.c_str(), O_RDONLY | O_DIRECTORY);
    check(directory >= 0, "open");
    for (unsigned number = 0; number < 256; number++) mkdir(shelf(number).c_str(), 0700);
  }

  ~Files() override { close(directory); }

  long get(uint64_t key, char *buffer) override {
    int file = open(path(key).c_str(), O_RDONLY);
    if (file < 0) return -1;
    struct stat about;
    check(fstat(file, &about) == 0, "fstat");
    long size = read(file, buffer, static_cast<size_t>(about.st_size));
    check(size == about.st_size, "read");
    close(file);
    return size;
  }

  void put(const std::vector<Write> &writes) override {
    for (const Write &write : writes) replace(write, false);
    sync();
  }

  void put_synced(const Write &write) override {
    replace(write, true);
    int parent = open(shelf(write.key & 0xFF).c_str(), O_RDONLY | O_DIRECTORY);
    check(parent >= 0 && fsync(parent) == 0, "fsync");
    close(parent);
  }

  void remove(const std::vector<uint64_t> &keys) override {
    for (uint64_t key : keys) check(unlink(path(key).c_str()) == 0, "unlink");
    sync();
  }

 private:
  std::string shelf(uint64_t number) {
    char name[8];
    std::snprintf(name, sizeof name, "/%02x", static_cast<unsigned>(number));
    return folder + name;
  }

  std::string path(uint64_t key) {
    char name[24];
    std::snprintf(name, sizeof name, "/%016llx", static_cast<unsigned long long>(key));
    return shelf(key & 0xFF) + name;
  }

  void replace(const Write &write, bool synced) {
    std::string place = path(write.key), beside = place + "+";
    int file = open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    check(file >= 0, "open");
    check(::write(file, write.value->data(), write.value->size()) == static_cast<ssize_t>(write.value->size()), "write");
    if (synced) check(fsync(file) == 0, "fsync");
    close(file);
    check(rename(beside.c_str(), place.c_str()) == 0, "rename");
  }

  void sync() {
#ifdef __linux__
    check(syncfs(directory) == 0, "syncfs");
#else
    ::sync();
#endif
  }
};

}  // namespace

std::unique_ptr<Engine> open_files(const std::string &folder) { return std::make_unique<Files>(folder); }
