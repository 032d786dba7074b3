import CisternTesting
import CisternTestSupport
import LMDB
import Locking
import Synchronization
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Concurrent readers and writers. No read returns a value older than one that was read or written before it.
@Suite struct DiskConcurrencyTests {
  @Test func `a removal by a closure does not count a key that was removed during its commit`() async throws {
    let scratch = TemporaryDirectory()
    let (isCommitting, mayCommit) = (Monitor(false), Monitor(true))
    let faults = DiskFaults {
      isCommitting.change { $0 = true }
      mayCommit.wait { $0 ? () : nil }
      return nil
    }
    let tier = try openTier(scratch, interval: .unreachable, faults: faults)
    let store = try Store(secondTier: tier, memoryLimit: .mebibytes(1))
    let cache = try store.cache("numbers", of: Int.self, keyedBy: String.self)
    try await store.flush()
    mayCommit.change { $0 = false }
    isCommitting.change { $0 = false }
    cache["removed"] = 1
    cache["kept"] = 2
    let flush = Task { try await tier.flush() }
    while !isCommitting.change({ $0 }) { await Task.yield() }
    cache.removeValue(forKey: "removed")
    cache.trim(toCost: 0)
    #expect(cache.removeAll { _ in true } == 1)
    mayCommit.change { $0 = true }
    try await flush.value
    #expect(cache["kept"] == nil)
    try await store.close()
  }

  @Test func `no read returns a value older than the newest one written before it`() async throws {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch, limit: .mebibytes(32))
    let cache = try tier.cache()
    let keyCount = 16
    let keys = (0..<keyCount).map { bytes("key-\($0)") }
    // For each key, the greatest number whose staging has returned.
    let written = (0..<keyCount).map { _ in Counter() }
    let isDone = Counter()
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        for number in 1...6000 {
          let slot = number % keyCount
          cache.put(keys[slot], Array("\(number)".utf8) + [UInt8](repeating: 1, count: 300))
          written[slot].value.store(number, ordering: .sequentiallyConsistent)
          if number % 64 == 0 { await Task.yield() }
        }
        isDone.value.store(1, ordering: .sequentiallyConsistent)
      }
      for reader in 0..<3 {
        group.addTask {
          var turn = reader
          while isDone.value.load(ordering: .sequentiallyConsistent) == 0 {
            turn += 1
            let slot = turn % keyCount
            let before = written[slot].value.load(ordering: .sequentiallyConsistent)
            let found = cache.get(keys[slot]).flatMap { Int(String(decoding: $0.prefix { $0 != 1 }, as: UTF8.self)) }
            if before > 0 { #expect(found ?? 0 >= before, "key \(slot)") }
            if turn % 32 == 0 { await Task.yield() }
          }
        }
      }
    }
    try await tier.flush()
    for slot in 0..<keyCount { #expect(cache.get(keys[slot])?.prefix(2) != nil) }
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test
  func `after a removal of all records, no earlier record is read, even during concurrent commits`() async throws {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch)
    let cache = try tier.cache()
    let keys = (0..<8).map { bytes("key-\($0)") }
    // The number of the newest removal of all that has returned. Each value contains the number of the removal before
    // it.
    let cleared = Counter()
    let isDone = Counter()
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        for round in 1...400 {
          _ = cache.stageRemovalOfAll()
          cleared.value.store(round, ordering: .sequentiallyConsistent)
          for key in keys { cache.put(key, bytes("\(round)")) }
          if round % 8 == 0 { await Task.yield() }
        }
        isDone.value.store(1, ordering: .sequentiallyConsistent)
      }
      for reader in 0..<2 {
        group.addTask {
          var turn = reader
          while isDone.value.load(ordering: .sequentiallyConsistent) == 0 {
            turn += 1
            let before = cleared.value.load(ordering: .sequentiallyConsistent)
            if let found = cache.get(keys[turn % 8]).flatMap({ Int(String(decoding: $0, as: UTF8.self)) }) {
              #expect(found >= before)
            }
            if turn % 32 == 0 { await Task.yield() }
          }
        }
      }
    }
    try await tier.flush()
    for key in keys { #expect(cache.get(key) == bytes("400")) }
    #expect(cache.statistics.entryCount == 8)
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test func `random operations agree with a dictionary across flushes and reopenings`() async throws {
    for seed in 0..<6 as Range<UInt64> {
      let scratch = TemporaryDirectory()
      var generator = SeededGenerator(seed: seed)
      var model: [[UInt8]: [UInt8]] = [:]
      var tier = try openTier(scratch, limit: .mebibytes(32))
      var cache = try tier.cache()
      for step in 0..<600 {
        let key = value(
          Int.random(in: 0..<40, using: &generator), size: [0, 5, 64, 65, 600].randomElement(using: &generator)!)
        switch Int.random(in: 0..<100, using: &generator) {
        case 0..<50:
          let bytes = value(step, size: [0, 10, 1000, 5000].randomElement(using: &generator)!)
          cache.put(key, bytes)
          model[key] = bytes
        case 50..<70:
          _ = cache.stage(.removal(key: key))
          model[key] = nil
        case 70..<95: #expect(cache.get(key) == model[key], "seed \(seed), step \(step)")
        case 95..<98: try await tier.flush()
        case 98:
          _ = cache.stageRemovalOfAll()
          model = [:]
        default:
          try await tier.close()
          tier = try openTier(scratch, limit: .mebibytes(32))
          cache = try tier.cache()
        }
      }
      try await tier.flush()
      for (key, bytes) in model { #expect(cache.get(key) == bytes, "seed \(seed)") }
      #expect(cache.statistics.entryCount == model.count)
      #expect(tier.checkInvariants() == [], "seed \(seed)")
      try await tier.close()
    }
  }

  @Test func `every waiter for a durable commit is resumed after its commit`() async throws {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch, durability: .powerCut)
    let cache = try tier.cache()
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<50 {
        group.addTask {
          guard case .staged(let ticket) = cache.put("k\(task)", [UInt8(task)]) else {
            Issue.record("the write was refused")
            return
          }
          do throws(CisternError) {
            try await cache.waitForCommit(ticket)
          } catch {
            Issue.record(error)
          }
        }
      }
    }
    #expect(cache.statistics.stores == 50)
    #expect(cache.statistics.stagedCount == 0)
    // A wait for a commit that is already complete also returns.
    try await cache.waitForCommit(CommitTicket(number: 1))
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test func `writers that wait for space continue, and staging stays near its bound`() async throws {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch, limit: .mebibytes(4), interval: .unreachable)
    let cache = try tier.cache()
    let bound = tier.engine.limits.stagedBytes
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<4 {
        group.addTask {
          for number in 0..<300 {
            await cache.waitForRoom()
            cache.put("\(task)-\(number)", value(number, size: 2000))
            #expect(tier.engine.stagedBytes.load(ordering: .relaxed) <= bound + 8 * 3000)
          }
        }
      }
    }
    try await tier.flush()
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }
}

private final class Counter: Sendable {
  let value = Atomic<Int>(0)
}
