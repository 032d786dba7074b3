import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Batches over several partitions of a tier.
@Suite struct DiskStoreBatchTests {
  private func write(_ key: Int, _ bytes: [UInt8]) -> StagedWrite {
    .record(
      key: Array("key-\(key)".utf8), RecordMetadata(created: WallTime(nanosecondsSince1970: 1), cost: 1), bytes: bytes)
  }

  @Test func `a commit contains all or none of a batch over several partitions, also if batches are joined`()
    async throws
  {
    let scratch = TemporaryDirectory()
    let copies = Copies(of: scratch)
    let tier = try openTier(
      scratch, limit: .mebibytes(1), interval: .unreachable, faults: DiskFaults(atCommit: copies.take))
    let names = ["one", "two", "three"]
    let caches = try names.map { try tier.cache($0) }
    for number in 1...40 {
      let batch = tier.beginBatch()
      let isOdd = number % 2 == 1
      for slot in 0..<10 {
        let bytes = Array("\(number):".utf8) + [UInt8](repeating: 1, count: slot * 200)
        _ = caches[isOdd ? 0 : 2].stage(write(slot, bytes), in: batch)
        _ = caches[1].stage(write(slot + (isOdd ? 0 : 5), bytes), in: batch)
      }
      _ = tier.endBatch(batch)
      for other in 0..<10 {
        _ = caches[other % 3].stage(write(100 + (number * 10 + other) % 200, value(other, size: 800)))
      }
      if number % 4 == 0 { try await tier.flush() }
    }
    try await tier.flush()
    expectWholeBatches(across: caches, notBefore: 40)
    #expect(tier.checkInvariants() == [])
    try await tier.close()
    for copy in 0..<copies.count {
      let crashed = try openTier(copies.scratch(copy), limit: .mebibytes(1))
      expectWholeBatches(across: try names.map { try crashed.cache($0) }, "after \(copy) commits")
      try await crashed.close()
    }
  }

  @Test func `a close during a batch does not divide it`() async throws {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch, interval: .unreachable)
    let (one, two) = (try tier.cache("one"), try tier.cache("two"))
    let batch = tier.beginBatch()
    _ = one.stage(write(1, [1]), in: batch)
    #expect(tier.detach())
    _ = two.stage(write(1, [1]), in: batch)
    _ = tier.endBatch(batch)
    await tier.release()
    let late = tier.beginBatch()
    guard case .refused = one.stage(write(2, [2]), in: late) else {
      Issue.record("a closed tier took a write")
      return
    }
    _ = tier.endBatch(late)
    let again = try openTier(scratch)
    #expect(try again.cache("one").get("key-1") == [1] && again.cache("two").get("key-1") == [1])
    #expect(try again.cache("one").get("key-2") == nil)
    try await again.close()
  }

  @Test func `a batch that waits for the gate until its owner has closed does not include the disk`() async throws {
    let scratch = TemporaryDirectory()
    for _ in 0..<20 {
      let tier = try openTier(scratch, interval: .unreachable)
      // The writer thread takes writes, so that the batch waits for the gate.
      tier.engine.batchGate.wait { $0.beginTaking() }
      let begun = Task(executorPreference: ThreadPerJob()) { tier.beginBatch() }
      for _ in 0..<200 { await Task.yield() }
      #expect(tier.detach())
      tier.engine.batchGate.change { $0.endTaking() }
      let batch = await begun.value
      #expect(!batch.includesDisk)
      _ = tier.endBatch(batch)
      await tier.release()
    }
  }

  @Test func `after SIGKILL at any point a batch over several partitions is present completely or not at all`()
    async throws
  {
    let scratch = TemporaryDirectory()
    var generator = SeededGenerator(seed: 9)
    for round in 0..<5 {
      let child = try ChildProcess("batch-across", scratch.store, "\(1 << 20)", "processCrash")
      let flushed = child.kill(afterLines: Int.random(in: 1...20, using: &generator))
      #expect(flushed > 0)
      let tier = try openTier(scratch, limit: .mebibytes(1))
      let caches = try ["one", "two", "three"].map { try tier.cache($0) }
      expectWholeBatches(across: caches, notBefore: flushed, "round \(round)")
      #expect(tier.checkInvariants() == [])
      // The next process begins with its first batch again.
      for cache in caches { _ = cache.stageRemovalOfAll() }
      try await tier.close()
    }
  }
}
