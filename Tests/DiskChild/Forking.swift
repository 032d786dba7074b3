import CisternCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Forks while all other threads of the process sleep. Returns zero in the child.
///
/// A fork copies only the calling thread. If another one is inside a lock of the Swift runtime, for example to look up
/// the metadata of a type, the child waits for that lock without end. A sleeping thread is in no such lock. Swift does
/// not offer `fork`, for this reason.
func forkWhileThreadsSleep() -> Int32 {
  while !othersSleep() { usleep(1000) }
  let fork = unsafe unsafeBitCast(dlsym(nil, "fork"), to: (@convention(c) () -> Int32).self)
  return fork()
}

/// Whether all threads but the calling one sleep, as far as the system tells.
private func othersSleep() -> Bool {
  guard let folder = unsafe opendir("/proc/self/task") else { return true }
  defer { unsafe closedir(folder) }
  let caller = callingThread()
  while let entry = unsafe readdir(folder) {
    let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) {
      unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
    }
    guard let thread = Int32(name), thread != caller else { continue }
    if state(ofThread: thread) != UInt8(ascii: "S") { return false }
  }
  return true
}

/// Returns the number of the calling thread in the folder of the process's threads.
private func callingThread() -> Int32? {
  var bytes = [CChar](repeating: 0, count: 64)
  let count = unsafe readlink("/proc/thread-self", &bytes, bytes.count)
  let path = String(decoding: bytes.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  return path.split(separator: "/").last.flatMap { Int32($0) }
}

/// Returns the state of a thread as the kernel names it, or nil if the thread has ended.
private func state(ofThread thread: Int32) -> UInt8? {
  let file = unsafe open("/proc/self/task/\(thread)/stat", O_RDONLY)
  guard file >= 0 else { return nil }
  defer { close(file) }
  var bytes = [UInt8](repeating: 0, count: 512)
  let count = unsafe read(file, &bytes, bytes.count)
  // The state follows the name of the program, which is in parentheses.
  guard let end = bytes.prefix(max(0, count)).lastIndex(of: UInt8(ascii: ")")), end + 2 < count else { return nil }
  return bytes[end + 2]
}

/// Forks, and uses the inherited cache in the child. The child may use only operations that need no other thread,
/// because a fork copies only the calling thread.
func forkAndTry(_ cache: any TransactionalPartition, _ first: [UInt8]) -> Never {
  let process = forkWhileThreadsSleep()
  if process == 0 {
    // Ends a child that is stuck.
    alarm(60)
    let found = cache.withRecord(forKey: first.rawSpan) { _, bytes in bytes.byteCount }
    var isRefused = false
    if case .refused = cache.stage(.removal(key: first)) { isRefused = true }
    _ = cache.stageRemovalOfAll()
    cache.waitForRoom()
    var keys = 0
    cache.forEachRecord { _, _, _ in
      keys += 1
      return true
    }
    let isThere = cache.contains(first.rawSpan)
    say(
      "child: \(found.map(String.init) ?? "nil"), \(isRefused ? "refused" : "taken"), "
        + "\(keys == 0 ? "no keys" : "keys"), \(isThere ? "there" : "not there")")
    _exit(0)
  }
  var status: Int32 = 0
  unsafe waitpid(process, &status, 0)
  let isThere = cache.contains(first.rawSpan)
  say("parent: \(isThere ? "found" : "lost")")
  stay()
}
