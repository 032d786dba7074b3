import Cistern
import CisternDisk

/// The process that is killed. It runs a script, flushes at random, and prints its progress. Without a last
/// operation, it runs until it is killed, and also closes, compacts and reopens the store. A limited run does not
/// compact, because a recording of writes cannot represent copies.
func write(directory: String, limit: Int, durability: Durability, seed: UInt64, operations: Int) async throws {
  let script = Script(seed: seed)
  var tier = try DiskTier(directory: directory, limit: .bytes(limit), durability: durability)
  var caches = try TrialCaches(tier)
  var random = Mixer(state: seed)
  var number = 0
  var flushed = 0
  while number < operations {
    number += 1
    await caches.waitForRoom()
    caches.stage(script.step(number), number: number, of: script)
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
      caches = try TrialCaches(tier)
    }
  }
  try await tier.close()
  say("\(number)")
}
