// The process's part in the tests of exits. Each function stages a write that no commit interval commits.
import Cistern
import CisternDisk
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Lets the exit wait for a commit that takes long on a busy machine.
func waitLongAtExit() { ExitCommit.longestDelay.store(600_000_000_000, ordering: .relaxed) }

/// Opens the store `name` in the directory. It commits only when it must.
func openToExit(
  _ name: String, faults: DiskFaults = DiskFaults(), report: @escaping @Sendable (StoreReport) -> Void = { _ in }
) throws -> DiskTier {
  var options = DiskOptions(limit: .mebibytes(1), layout: .tested, commitInterval: .seconds(10_000_000))
  options.faults = faults
  return try DiskTier(directory: "\(CommandLine.arguments[2])/\(name)", options: options, report: report)
}

func stage(_ number: Int, in tier: DiskTier) throws {
  _ = try tier.diskPartition(named: "cache").stage(
    record(key(number), number, [UInt8(truncatingIfNeeded: number)]))
}

/// Ends the process from a report handler, on the writer thread.
func exitFromWriter() async throws {
  let faults = FaultOnce(.corrupted)
  let store = Guard<DiskTier?>(nil)
  let tier = try openToExit("store", faults: DiskFaults { faults.take() }) { report in
    guard report.code == .setAside, let tier = store.value.withLock({ $0 }) else { return }
    try? stage(2, in: tier)
    exit(0)
  }
  store.value.withLock { $0 = tier }
  try stage(1, in: tier)
  try await tier.flush()
  // The handler ends the process during this wait at the latest.
  while true { sleep(1000) }
}

/// Exits while the writer thread is inside a transaction. The thread continues only after the exit has begun.
func exitDuringCommit() throws -> Never {
  let isCommitting = Guard(false)
  let tier = try openToExit(
    "store",
    faults: DiskFaults {
      isCommitting.value.withLock { $0 = true }
      while !exitHasBegun.withLock({ $0 }) { usleep(100) }
      return nil
    })
  // Registered after the store's handler, and therefore called before it.
  atexit { exitHasBegun.withLock { $0 = true } }
  try stage(1, in: tier)
  Task.detached { try await tier.flush() }
  while !isCommitting.value.withLock({ $0 }) { usleep(100) }
  try stage(2, in: tier)
  exit(0)
}

private let exitHasBegun = Mutex(false)

/// Exits while the disk does not respond.
func exitWithHungDisk() throws -> Never {
  let tier = try openToExit(
    "store",
    faults: DiskFaults {
      while true { sleep(1000) }
    })
  try stage(1, in: tier)
  exit(0)
}

/// A forked child exits with its own open store. Then the parent ends without exit handlers.
func exitFromFork() async throws -> Never {
  let tier = try openToExit("store")
  try await tier.flush()
  try stage(1, in: tier)
  let process = forkWhileThreadsSleep()
  if process == 0 {
    // Ends a child that is stuck. The exit may wait long for its commit.
    alarm(600)
    let own = try openToExit("child")
    try stage(2, in: own)
    // A release would close the store.
    withExtendedLifetime(own) { exit(0) }
  }
  var status: Int32 = 0
  unsafe waitpid(process, &status, 0)
  say("child: \(status)")
  _exit(0)
}

/// A lock that closures can share.
final class Guard<Value: Sendable>: Sendable {
  let value: Mutex<Value>

  init(_ value: Value) { self.value = Mutex(value) }
}

/// A fault that occurs once.
final class FaultOnce: Sendable {
  private let fault: Mutex<DiskFaults.Fault?>

  init(_ fault: DiskFaults.Fault) { self.fault = Mutex(fault) }

  func take() -> DiskFaults.Fault? {
    fault.withLock { fault in
      defer { fault = nil }
      return fault
    }
  }
}
