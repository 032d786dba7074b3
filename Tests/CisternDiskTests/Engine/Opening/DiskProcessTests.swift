import CisternTesting
import CisternTestSupport
import Foundation
import LMDB
import Synchronization
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Several processes that share a store, including processes that are killed.
@Suite(.serialized) struct DiskProcessTests {
  @Test(arguments: ["processCrash", "powerCut"])
  func `after SIGKILL at any point only committed values are present, none older than the last flush`(
    durability: String
  ) async throws {
    let scratch = TemporaryDirectory()
    var generator = SeededGenerator(seed: 3)
    for round in 0..<5 {
      let child = try ChildProcess("write", scratch.store, "\(16 << 20)", durability)
      let flushed = child.kill(afterLines: Int.random(in: 1...30, using: &generator))
      #expect(flushed > 0)
      let delivered = DeliveredReports()
      let tier = try openTier(
        scratch, durability: durability == "powerCut" ? .powerCut : .processCrash, delivered: delivered)
      let cache = try tier.cache()
      var found = 0
      for slot in 0..<97 {
        // The newest number of this slot that was certainly flushed.
        let newest = (flushed - slot + 97) / 97 * 97 + slot - 97
        let bytes = cache.get("key-\(slot)")
        if let bytes {
          found += 1
          let number = try #require(Int(String(decoding: bytes.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self)))
          #expect(number % 97 == slot)
          #expect(number >= newest || newest <= 0, "round \(round): \(number) is older than \(newest)")
          let whole =
            Array("\(number):".utf8) + [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: number % 3000)
          #expect(bytes == whole)
          // A removed value is present only if its removal was not flushed.
          #expect(number % 7 != 0 || number > flushed)
        } else if newest > 0 {
          // The value is absent because this write or a later one removed it. The process writes at most 20 numbers
          // after those of its last line.
          #expect(
            (newest...flushed + 20).contains { $0 % 97 == slot && $0 % 7 == 0 },
            "round \(round): the key of \(newest) is absent after \(flushed)")
        }
      }
      #expect(found > 0 || flushed < 20)
      #expect(delivered.reportCodes == [])
      try await tier.flush()
      #expect(tier.checkInvariants() == [])
      // The next child process restarts its numbers.
      _ = cache.stageRemovalOfAll()
      try await tier.close()
    }
  }

  @Test func `another process's removal of all records and its writes are visible immediately`() async throws {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch)
    let cache = try tier.cache()
    for number in 0..<10 { cache.put("key-\(number)", bytes("mine")) }
    try await tier.flush()
    #expect(cache.get("key-1") == bytes("mine"))
    let child = try ChildProcess("clear", scratch.store, "\(16 << 20)", "processCrash")
    #expect(child.readLine() == "cleared")
    #expect(cache.get("key-2") == nil)
    #expect(cache.get("key-1") == [9])
    cache.put("key-3", bytes("again"))
    try await tier.flush()
    #expect(cache.keys() == ["key-1", "key-3"])
    _ = child.kill()
    cache.put("key-4", bytes("alone"))
    try await tier.flush()
    #expect(cache.keys() == ["key-1", "key-3", "key-4"])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test func `after SIGKILL at any point a batch is present either completely or not at all`() async throws {
    let scratch = TemporaryDirectory()
    var generator = SeededGenerator(seed: 5)
    for round in 0..<6 {
      let child = try ChildProcess("batch", scratch.store, "\(1 << 20)", "processCrash")
      let flushed = child.kill(afterLines: Int.random(in: 1...20, using: &generator))
      #expect(flushed > 0)
      let delivered = DeliveredReports()
      let tier = try openTier(scratch, limit: .mebibytes(1), delivered: delivered)
      let cache = try tier.cache()
      expectWholeBatches(in: cache, notBefore: flushed, "round \(round)")
      #expect(delivered.reportCodes == [])
      #expect(tier.checkInvariants() == [])
      _ = cache.stageRemovalOfAll()
      try await tier.close()
    }
  }

  @Test func `after SIGKILL at any point no record that was invalidated before a flush is present`() async throws {
    let scratch = TemporaryDirectory()
    var generator = SeededGenerator(seed: 6)
    var invalidationVersion: InvalidationVersion = 0
    for round in 0..<6 {
      let child = try ChildProcess("invalidate", scratch.store, "\(16 << 20)", "processCrash")
      let flushed = child.kill(afterLines: Int.random(in: 1...40, using: &generator))
      #expect(flushed > 0)
      let tier = try openTier(scratch)
      let cache = try tier.cache()
      #expect(cache.invalidationVersion.number >= invalidationVersion.number + UInt64(flushed))
      invalidationVersion = cache.invalidationVersion
      for slot in 0..<40 {
        guard let bytes = cache.get("key-\(slot)") else { continue }
        let number = try #require(Int(String(decoding: bytes, as: UTF8.self)))
        #expect(number >= flushed)
        let isByTag = number % 8 < 4
        let isConcerned = isByTag ? slot % 4 == number % 4 : "key-\(slot)".hasPrefix("key-\(number % 4)")
        #expect(!isConcerned || number > flushed, "round \(round): slot \(slot) has the invalidated number \(number)")
      }
      try await tier.purge()
      #expect(tier.checkInvariants() == [])
      _ = cache.stageRemovalOfAll()
      try await tier.close()
    }
  }

  @Test func `another process's invalidation and its purge are visible immediately`() async throws {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch)
    let cache = try tier.cache()
    for number in 0..<100 { cache.put("key-\(number)", bytes("mine"), tags: number % 2 == 0 ? ["gone"] : ["kept"]) }
    try await tier.flush()
    #expect(cache.get("key-2") == bytes("mine"))
    let child = try ChildProcess("purge", scratch.store, "\(16 << 20)", "processCrash")
    #expect(child.readLine() == "invalidated")
    for number in 0..<100 { #expect((cache.get("key-\(number)") == nil) == (number % 2 == 0)) }
    #expect(cache.keys().count == 50)
    // The version is one higher if the purge ended before this process learned of the invalidation.
    let invalidationVersion = cache.invalidationVersion
    #expect(invalidationVersion == 1 || invalidationVersion == 2)
    cache.put("key-2", bytes("again"), tags: ["gone"])
    #expect(cache.stageInvalidation(.tag("other")).version == invalidationVersion.next())
    try await tier.purge()
    #expect(cache.get("key-2") == bytes("again"))
    #expect(cache.keys().count == 51)
    _ = child.kill()
    try await tier.purge()
    #expect(cache.keys().count == 51)
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test func `a reader of a killed process does not prevent the reuse of the file's space`() async throws {
    let scratch = TemporaryDirectory()
    let delivered = DeliveredReports()
    let child = try ChildProcess("hold", scratch.store, "\(4 << 20)", "processCrash")
    #expect(child.readLine() == "holding")
    let tier = try openTier(scratch, limit: .mebibytes(4), delivered: delivered)
    let cache = try tier.cache()
    for number in 0..<20 { cache.put("a\(number)", value(number, size: 1000)) }
    try await tier.flush()
    _ = child.kill()
    for number in 0..<8000 {
      cache.put("k\(number)", value(number, size: 1000))
      await cache.waitForRoom()
    }
    try await tier.flush()
    #expect(delivered.reportCodes == [])
    #expect(cache.get("k7999") == value(7999, size: 1000))
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  /// Opens a store of 4 MiB whose pages a read of another process keeps, and closes it after `body`.
  ///
  /// Only a flush retries a failing disk.
  private static func withHolder(
    readerPatience: Duration,
    _ body: (DiskTier, any TransactionalPartition, _ holder: ChildProcess, DeliveredReports) async throws -> Void
  ) async throws {
    let scratch = TemporaryDirectory()
    let delivered = DeliveredReports()
    let holder = try ChildProcess("hold", scratch.store, "\(4 << 20)", "processCrash")
    #expect(holder.readLine() == "holding")
    var options = DiskOptions(limit: .mebibytes(4), layout: .tested, commitInterval: .milliseconds(1))
    options.readerPatience = readerPatience
    options.retryInterval = .unreachable
    let tier = try DiskTier(directory: scratch.store, options: options) { report in
      delivered.reports.withLock { $0.append(report) }
    }
    try await body(tier, try tier.cache(), holder, delivered)
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test func `a store that another process's read has degraded recovers when that process was killed`() async throws {
    try await Self.withHolder(readerPatience: .milliseconds(5)) { tier, cache, holder, delivered in
      for number in 0..<20_000 where cache.mode == .active {
        cache.put("k\(number)", value(number, size: 1000))
        await cache.waitForRoom()
      }
      #expect(cache.mode == .degraded)
      await #expect(throws: CisternError.self) { try await tier.flush() }
      _ = holder.kill()
      try await tier.flush()
      #expect(cache.mode == .active)
      #expect(await delivered.reportCodes(atLeast: 3) == [.longReader, .degraded, .recovered])
      cache.put("last", bytes("last"))
      try await tier.flush()
      #expect(cache.get("last") == bytes("last"))
    }
  }

  @Test(.timeLimit(.minutes(30)))
  func `a write that waits for another process's read continues when that process is killed`() async throws {
    // The wait ends only because the process is killed, regardless of the speed of the machine.
    try await Self.withHolder(readerPatience: .unreachable) { tier, cache, holder, delivered in
      let writes = Task {
        for number in 0..<12_000 {
          cache.put("k\(number)", value(number, size: 1000))
          await cache.waitForRoom()
        }
      }
      while !tier.engine.writerAwaitsReader.load(ordering: .acquiring) { await Task.yield() }
      _ = holder.kill()
      await writes.value
      try await tier.flush()
      #expect(delivered.reportCodes == [])
      #expect(cache.get("k11999") == value(11_999, size: 1000))
    }
  }

  @Test func `a store whose limit differs from another process's does not open, and the error says why`() async throws {
    let scratch = TemporaryDirectory()
    let child = try ChildProcess("hold", scratch.store, "\(1 << 20)", "processCrash")
    #expect(child.readLine() == "holding")
    let error = #expect(throws: CisternError.self) { _ = try openTier(scratch, limit: .mebibytes(2)) }
    #expect(error?.code == .storeInUse)
    #expect(error?.message.contains("1048576") == true)
    let compacting = #expect(throws: CisternError.self) { _ = try DiskTier.compact(directory: scratch.store) }
    #expect(compacting?.code == .storeInUse)
    _ = child.kill()
    let tier = try openTier(scratch, limit: .mebibytes(2))
    try await tier.close()
  }

  @Test
  func `in a forked child, reads miss and writes are refused without hanging, and the parent continues`() async throws {
    let scratch = TemporaryDirectory()
    let child = try ChildProcess("fork", scratch.store, "\(1 << 20)", "processCrash")
    #expect(child.readLine() == "child: nil, refused, no keys, not there")
    #expect(child.readLine() == "parent: found")
    _ = child.kill()
  }
}
