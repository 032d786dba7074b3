import Cistern
import CisternDisk

/// The process that is killed. It runs a script, flushes at random, and prints its progress. Without a last
/// operation, it runs until it is killed, and also closes, compacts and reopens the store. A limited run does not
/// compact, because a recording of writes cannot represent copies.
func write(directory: String, limit: Int, durability: Durability, seed: UInt64, operations: Int) async throws {
  let script = Script(seed: seed)
  var tier = try DiskTier(directory: directory, limit: .bytes(limit), durability: durability)
  var cache = try tier.diskPartition(named: "cache")
  var random = Mixer(state: seed)
  var number = 0
  var flushed = 0
  while number < operations {
    number += 1
    await cache.waitForRoom()
    switch script.step(number) {
    case .set(let key): _ = cache.stage(script.record(key, number))
    case .remove(let key): _ = cache.stage(.removal(key: Script.key(key)))
    case .batch(let keys):
      let batch = cache.beginBatch()
      for key in keys { _ = cache.stage(script.record(key, number), in: batch) }
      cache.endBatch(batch)
    }
    if random.next(below: 60) == 0 || number - flushed >= Script.mostUnflushed {
      try await tier.flush()
      flushed = number
      say("\(number)")
    }
    if operations == .max, random.next(below: 2_500) == 0 {
      try await tier.close()
      say("\(number)")
      _ = try DiskTier.compact(directory: directory)
      tier = try DiskTier(directory: directory, limit: .bytes(limit), durability: durability)
      cache = try tier.diskPartition(named: "cache")
    }
  }
  try await tier.close()
  say("\(number)")
}
