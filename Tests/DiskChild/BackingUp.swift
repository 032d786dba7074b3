// The process's part in the tests of backups.
import Cistern
import CisternDisk

/// Fills the store, and copies it until the process is killed. The copies are beside the store. Prints the number of
/// each complete one.
func backUpRepeatedly(_ tier: DiskTier, _ cache: DiskPartition) async throws {
  for number in 0..<400 {
    await cache.waitForRoom()
    _ = cache.stage(record(key(number), number, [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 2000)))
  }
  try await tier.flush()
  say("filled")
  var number = 0
  while true {
    number += 1
    try await tier.backUp(to: "\(CommandLine.arguments[2])-copy-\(number)")
    say("\(number)")
  }
}
