import Cistern
import CisternDisk
import Foundation
import TestDirectories

/// A fault that the system causes. Each runs in a separate process, which must survive it.
enum SystemFault: String, CaseIterable {
  /// The file system is full. The trial mounts a small one in memory, if the process may mount.
  case full
  /// The process has reached its limit of open files.
  case descriptors
  /// The directory becomes read-only and belongs to another user.
  case permission
  /// Another process deletes the lock file.
  case lockFile = "lock-file"
  /// The process cannot map more memory.
  case addresses
}

/// Runs the trials of all system faults.
func systemFaults(seed: UInt64) throws -> Bool {
  var isFine = true
  for fault in SystemFault.allCases {
    let folder = TemporaryDirectory()
    let isMounted = fault == .full && mountSmall(folder.path)
    defer { if isMounted { unsafe _ = umount2(folder.path, Int32(MNT_DETACH)) } }
    if fault == .full, !isMounted || !folder.path.hasPrefix("/") {
      say("faults, \(fault.rawValue): not tried, since this process may not mount a file system")
      continue
    }
    if fault == .permission, geteuid() == 0 { unsafe chown(folder.path, SystemTrial.nobody, SystemTrial.nobody) }
    let (end, said) = try Child(["system-fault", folder.store, fault.rawValue, "\(seed)"]).end(within: 60)
    say("faults, \(fault.rawValue): \(end == .exited(0) ? "survived" : "\(end)"): \(said.joined(separator: "; "))")
    if end != .exited(0) { isFine = false }
  }
  return isFine
}

/// Mounts a file system of six megabytes in memory. Returns whether it succeeded.
private func mountSmall(_ path: String) -> Bool {
  #if canImport(Glibc)
    unsafe mount("none", path, "tmpfs", 0, "size=6m") == 0
  #else
    false
  #endif
}

/// The trial of one system fault in this process.
struct SystemTrial {
  static let nobody: uid_t = 65_534
  private let directory: String
  private var random: Mixer
  private var model = FaultModel()
  private let reports = Reports()
  private var delivered: [String] = []

  init(directory: String, seed: UInt64) {
    self.directory = directory
    random = Mixer(state: seed)
  }

  mutating func run(_ fault: SystemFault) async throws -> Bool {
    // The first operations load everything that is loaded lazily, before files run out.
    if fault == .permission, geteuid() == 0 { setuid(Self.nobody) }
    let (store, cache) = try open(directory, limit: fault == .full ? .mebibytes(16) : .mebibytes(4))
    model.write(80, to: cache, &random)
    try await store.flush()
    model.flushed()
    let undo = try await begin(fault)
    for turn in 0..<6 {
      model.write(12, to: cache, &random)
      await flush(store)
      model.check(cache, "failing")
      if turn == 3 { model.trim(store) }
    }
    openAnother(fault)
    undo()
    for _ in 0..<20 where store.statistics.disk?.mode == .degraded { await flush(store) }
    await flush(store)
    model.write(30, to: cache, &random)
    try await store.flush()
    model.flushed()
    model.check(cache, "working again")
    try await store.close()
    let (again, sameCache) = try open(directory, limit: fault == .full ? .mebibytes(16) : .mebibytes(4))
    model.checkReopened(sameCache)
    try await again.close()
    if reports.text.contains("setAside") { model.note("set aside: \(reports.text)") }
    say(delivered.isEmpty ? "nothing failed" : "delivered: \(Array(Set(delivered)).sorted().joined(separator: ", "))")
    for fault in model.faults { say(fault) }
    return model.faults.isEmpty
  }

  private mutating func flush(_ store: Store) async {
    do {
      try await store.flush()
      model.flushed()
    } catch {
      model.failedToFlush()
      note("flushing", error)
    }
  }

  private func open(_ directory: String, limit: ByteCount) throws -> (Store, FaultModel.Values) {
    let reports = reports
    var options = DiskOptions(limit: limit, durability: .powerCut)
    options.retryInterval = .milliseconds(2)
    let tier = try DiskTier(directory: directory, options: options, report: { reports.add($0) })
    let store = try Store(secondTier: tier, memoryLimit: .mebibytes(16))
    return (store, try store.cache("values", of: [UInt8].self, keyedBy: String.self))
  }

  /// Begins the fault, and returns a closure that ends it.
  private mutating func begin(_ fault: SystemFault) async throws -> () -> Void {
    let directory = directory
    switch fault {
    case .full:
      model.evicts = true
      // Another store, whose lock file must be created again at its next opening.
      try await open(directory + "-another", limit: .mebibytes(4)).0.close()
      unsafe unlink(directory + "-another/lock.mdb")
      let path = (directory as NSString).deletingLastPathComponent + "/filler"
      let file = unsafe Glibc.open(path, O_WRONLY | O_CREAT, 0o600)
      let block = [UInt8](repeating: 1, count: 4096)
      while unsafe write(file, block, block.count) > 0 {}
      close(file)
      return { unsafe unlink(path) }
    case .descriptors:
      let free = unsafe Glibc.open("/dev/null", O_RDONLY)
      close(free)
      return lower(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), to: rlim_t(free))
    case .permission:
      unsafe chmod(directory, 0o500)
      return { unsafe chmod(directory, 0o700) }
    case .lockFile:
      unsafe unlink(directory + "/lock.mdb")
      return {}
    case .addresses:
      let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")[0]
      // Space for the running process, but not for another store.
      return lower(__rlimit_resource_t(RLIMIT_AS.rawValue), to: (rlim_t(pages) ?? 0) * 4096 + 192 << 20)
    }
  }

  private func lower(_ resource: __rlimit_resource_t, to limit: rlim_t) -> () -> Void {
    var before = rlimit()
    unsafe getrlimit(resource, &before)
    let was = before
    var now = rlimit(rlim_cur: limit, rlim_max: was.rlim_max)
    unsafe setrlimit(resource, &now)
    return {
      var before = was
      unsafe setrlimit(resource, &before)
    }
  }

  /// Opens another store during the fault. The opening either succeeds or throws an error of the library.
  private mutating func openAnother(_ fault: SystemFault) {
    let limit: ByteCount = fault == .addresses ? .gibibytes(64) : .mebibytes(4)
    let path = fault == .permission ? directory + "/another" : directory + "-another"
    do {
      _ = try open(path, limit: limit)
      delivered.append("opening another: works")
    } catch {
      note("opening another", error)
    }
  }

  private mutating func note(_ operation: String, _ error: any Error) {
    guard let error = error as? CisternError else { return model.note("\(operation): \(error)") }
    delivered.append("\(operation): \(error.code)")
  }
}
