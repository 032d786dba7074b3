// The process's part in the tests of writes and batches.
import CisternCore
import CisternDisk

/// Writes until the process is killed. Number n is written to key n mod 97, and every seventh is removed again.
///
/// The test that kills the process derives the required content from the last line.
@MainActor func writeRepeatedly(_ tier: DiskTier, _ cache: DiskPartition) async throws {
  var number = 0
  while true {
    number += 1
    stageWrite(number, in: cache)
    if number % 20 == 0 {
      try await tier.flush()
      say("\(number)")
    }
  }
}

/// Blocks the thread while there is no room, and stages the write with this number.
private func stageWrite(_ number: Int, in cache: DiskPartition) {
  let bytes = Array("\(number):".utf8) + [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: number % 3000)
  cache.waitForRoom()
  _ = cache.stage(record(key(number % 97), number, bytes))
  if number % 7 == 0 { _ = cache.stage(.removal(key: key(number % 97))) }
}

/// Writes batches until the process is killed. An odd batch n writes n to the keys 0 to 9, and an even one to the keys
/// 5 to 14.
///
/// Each batch needs more pages than a transaction should touch. Between the batches come writes that evict others. A
/// long line fills the pipe, so that the process in step writes on only after the line is read.
@MainActor func writeBatches(_ tier: DiskTier, _ cache: DiskPartition, isInStep: Bool) async throws {
  let padding = String(repeating: " ", count: isInStep ? 1 << 17 : 0)
  var number = 0
  while true {
    number += 1
    stageBatch(number, in: cache)
    if number % 20 == 0 {
      try await tier.flush()
      say("\(number)\(padding)")
    }
  }
}

/// Blocks the thread while there is no room, and stages the batch with this number and the writes after it.
private func stageBatch(_ number: Int, in cache: DiskPartition) {
  cache.waitForRoom()
  let batch = cache.beginBatch()
  for slot in 0..<10 {
    let bytes = Array("\(number):".utf8) + [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: number % 2000)
    _ = cache.stage(record(key(slot + (number % 2 == 1 ? 0 : 5)), number, bytes), in: batch)
  }
  cache.endBatch(batch)
  for other in 0..<3 {
    _ = cache.stage(record(key(100 + number * 3 + other), number, [UInt8](repeating: 1, count: 900)))
  }
}
