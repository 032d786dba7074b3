import CisternCore
import CisternDisk

/// Writes batches over three partitions until the process is killed, as `expectWholeBatches(across:)` describes them.
func writeBatchesAcross(_ tier: DiskTier) async throws {
  let partitions = try ["one", "two", "three"].map { try tier.diskPartition(named: $0) }
  var number = 0
  while true {
    number += 1
    await partitions[0].waitForRoom()
    let batch = tier.beginBatch()
    let isOdd = number % 2 == 1
    for slot in 0..<10 {
      let bytes = Array("\(number):".utf8) + [UInt8](repeating: 1, count: number % 1000)
      _ = partitions[isOdd ? 0 : 2].stage(record(key(slot), number, bytes), in: batch)
      _ = partitions[1].stage(record(key(slot + (isOdd ? 0 : 5)), number, bytes), in: batch)
    }
    _ = tier.endBatch(batch)
    for other in 0..<3 {
      _ = partitions[other].stage(record(key(100 + number * 3 + other), number, [UInt8](repeating: 1, count: 900)))
    }
    if number % 10 == 0 {
      try await tier.flush()
      say("\(number)")
    }
  }
}
