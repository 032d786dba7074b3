import CisternTestSupport
import Locking
import Testing

@testable import CisternCore
@testable import CisternDisk

/// The state of an evicted key between the transaction that removes its record and the acknowledgment of its loss.
@Suite struct EvictedKeyTests {
  /// A tier that is too small for all keys, and the keys that were lost at the end of each transaction.
  private final class Watched: Sendable {
    let partition = Guarded<Partition?>(nil)
    let seen = Guarded<Set<[UInt8]>>([])
    let failing = Switch<DiskFaults.Fault>()
    let delivered = DeliveredReports()

    static let keys = (0..<600).map { bytes("key-\($0)") }

    var lost: Set<[UInt8]> {
      let partition = partition.withLock { $0 }
      return Set(Self.keys.filter { partition?.isLost($0.rawSpan) ?? false })
    }

    /// Runs at the end of each transaction, before its commit. If `failing` is set, a transaction that evicts a key
    /// fails.
    func look() -> DiskFaults.Fault? {
      let lost = lost
      seen.withLock { $0.formUnion(lost) }
      return lost.isEmpty ? nil : failing.peek()
    }

    func open(_ scratch: TemporaryDirectory) throws -> (DiskTier, any TransactionalPartition) {
      let tier = try openTier(
        scratch, limit: .kibibytes(256), delivered: delivered, interval: .unreachable,
        faults: DiskFaults { self.look() })
      let cache = try tier.cache(delivered: delivered)
      let opened = tier.engine.partitions.first
      partition.withLock { $0 = opened }
      return (tier, cache)
    }
  }

  @Test func `an evicted key is marked as lost before the commit that removes it becomes visible`() async throws {
    let scratch = TemporaryDirectory()
    let watched = Watched()
    let (tier, cache) = try watched.open(scratch)
    for (number, key) in Watched.keys.enumerated() {
      cache.put(key, value(number, size: 900))
      if number % 32 == 31 { try await tier.flush() }
    }
    try await tier.flush()
    let delivered = Set(watched.delivered.lost(.evicted))
    #expect(delivered.count > 100)
    #expect(delivered.subtracting(watched.seen.withLock { $0 }) == [])
    #expect(watched.lost == [])
    try await tier.close()
  }

  @Test func `a key whose eviction fails to commit is not lost`() async throws {
    let scratch = TemporaryDirectory()
    let watched = Watched()
    let (tier, cache) = try watched.open(scratch)
    watched.failing.set(.inputOutput)
    var failures = 0
    for (number, key) in Watched.keys.enumerated() where failures == 0 {
      cache.put(key, value(number, size: 900))
      guard number % 32 == 31 else { continue }
      do { try await tier.flush() } catch { failures += 1 }
    }
    #expect(failures == 1)
    #expect(watched.lost == [])
    let withdrawn = watched.seen.withLock { $0 }
    #expect(!withdrawn.isEmpty)
    for key in withdrawn { #expect(cache.get(key) != nil) }
    #expect(watched.delivered.lost(.evicted) == [])
    try await tier.close()
  }

  @Test func `a key that is evicted in the commit group that writes it again is not lost`() async throws {
    let scratch = TemporaryDirectory()
    let watched = Watched()
    let (tier, cache) = try watched.open(scratch)
    for number in 0..<250 {
      cache.put(Watched.keys[number], value(number, size: 900))
      if number % 32 == 31 { try await tier.flush() }
    }
    try await tier.flush()
    let present = cache.keys()
    watched.delivered.losses.withLock { $0 = [] }
    let evictions = tier.statistics.evictions
    // The oldest records are evicted first, and are written last here. No commit group begins while a batch is open,
    // so all of these writes are in one group.
    let batch = cache.beginBatch()
    for number in 250..<300 { cache.put(Watched.keys[number], value(number, size: 900)) }
    for number in 0..<250 where present.contains("key-\(number)") {
      cache.put(Watched.keys[number], value(number, size: 900))
    }
    cache.endBatch(batch)
    try await tier.flush()
    let delivered = Set(watched.delivered.lost(.evicted).map { String(decoding: $0, as: UTF8.self) })
    #expect(tier.statistics.evictions > evictions)
    #expect(delivered.intersection(cache.keys()) == [])
    try await tier.close()
  }

  @Test(arguments: [false, true])
  func `the eviction of a key must be reported unless its tag was invalidated since`(
    isInvalidated: Bool
  ) async throws {
    let scratch = TemporaryDirectory()
    let cache = Guarded<(any TransactionalPartition)?>(nil)
    let ends = Guarded<[Bool]>([])
    let tier = try openTier(scratch, limit: .kibibytes(256))
    let partition = try tier.diskPartition(named: "cache") { losses in
      guard let cache = cache.withLock({ $0 }) else { return }
      if isInvalidated { _ = cache.stageInvalidation(.tag("red")) }
      let areToBeTold = losses.map { cache.acknowledgeLoss(of: $0.key.rawSpan) }
      ends.withLock { $0 += areToBeTold }
    }
    cache.withLock { $0 = partition }
    // This invalidation is older than all records and concerns none of them.
    _ = partition.stageInvalidation(.tag("red"))
    for number in 0..<400 {
      partition.put("key-\(number)", value(number, size: 900), tags: ["red"])
      await partition.waitForRoom()
    }
    try await tier.flush()
    let delivered = ends.withLock { $0 }
    #expect(delivered.count > 0)
    #expect(delivered.allSatisfy { $0 == !isInvalidated })
    try await tier.close()
    cache.withLock { $0 = nil }
  }

  @Test
  func `a record that fails to commit is present until its loss is acknowledged, and must be reported`() async throws {
    let scratch = TemporaryDirectory()
    let cache = Guarded<(any TransactionalPartition)?>(nil)
    let ends = Guarded<[[Bool]]>([])
    let failing = Switch<DiskFaults.Fault>()
    let tier = try openTier(scratch, interval: .unreachable, faults: DiskFaults { failing.take() })
    let partition = try tier.diskPartition(named: "cache") { losses in
      guard let cache = cache.withLock({ $0 }) else { return }
      let seen = losses.map { loss in
        [
          loss.cause == .notWritten, cache.contains(loss.key.rawSpan),
          cache.acknowledgeLoss(of: loss.key.rawSpan), !cache.contains(loss.key.rawSpan),
        ]
      }
      ends.withLock { $0 += seen }
    }
    cache.withLock { $0 = partition }
    failing.set(.inputOutput)
    for number in 0..<10 { partition.put("key-\(number)", value(number, size: 90)) }
    await #expect(throws: CisternError.self) { try await tier.flush() }
    #expect(ends.withLock { $0 } == Array(repeating: [true, true, true, true], count: 10))
    try await tier.close()
    cache.withLock { $0 = nil }
  }

  @Test(arguments: [1, 10, 20], [100, 200, 300])
  func `the loss of a record that its own transaction evicts is reported`(count: Int, size: Int) async throws {
    let scratch = TemporaryDirectory()
    let delivered = DeliveredReports()
    let marks = Switch<RecencyBitmap>()
    // All records count as read at each commit, and get second chances until the commit group has used them up. From
    // then on, the oldest record is evicted even if it was just written: a record that replaces another keeps its
    // place.
    let tier = try openTier(
      scratch, limit: .kibibytes(256), delivered: delivered, interval: .unreachable,
      faults: DiskFaults {
        if let marks = marks.peek() { for number in 1...2000 { marks.mark(SequenceNumber(number: UInt64(number))) } }
        return nil
      })
    let cache = try tier.cache(delivered: delivered)
    for number in 0..<80 { cache.put("old-\(1000 + number)", value(number, size: 600)) }
    try await tier.flush()
    let before = cache.keys()
    delivered.losses.withLock { $0 = [] }
    marks.set(tier.engine.recency)
    // No commit group begins while a batch is open, so that all writes are in one group.
    let batch = tier.beginBatch()
    let new = (0..<count).map { "new-\(1000 + $0)" }
    for key in new { cache.put(key, value(2, size: 900)) }
    for key in before { cache.put(key, value(3, size: size)) }
    _ = tier.endBatch(batch)
    try await tier.flush()
    marks.set(nil)
    let present = cache.keys()
    let lost = Set(delivered.lostKeys.map { String(decoding: $0, as: UTF8.self) })
    #expect(before.union(new).subtracting(present).subtracting(lost) == [])
    #expect(present.intersection(lost) == [])
    #expect(delivered.reportCodes == [])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }
}
