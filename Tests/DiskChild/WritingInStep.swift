// The process's part in the tests of room for large records.
import CisternCore
import CisternDisk

/// Writes small values of many sizes, in a group for each line that the other process reads. A line fills the pipe.
func writeMixedSizesInStep(_ tier: DiskTier, _ cache: DiskPartition) async throws {
  let padding = String(repeating: " ", count: 1 << 17)
  var number = 0
  while true {
    for _ in 0..<20 {
      number += 1
      // From 60 bytes to 20 kB, small ones more often.
      let size = 60 + (number * 7919 % 141) * (number * 104_729 % 141)
      _ = cache.stage(record(key(1_000_000 + number), number, [UInt8](repeating: 1, count: size)))
    }
    try await tier.flush()
    say("\(number)\(padding)")
  }
}
