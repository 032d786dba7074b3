import CisternTestSupport
import LMDB
import Testing

@testable import CisternCore
@testable import CisternDisk

@Suite struct RecencyTests {
  @Test func `reads start no write transaction`() async throws {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch)
    let cache = try tier.cache()
    for number in 0..<100 { cache.put("k\(number)", value(number, size: 200)) }
    try await tier.flush()
    let file = try #require(tier.engine.file)
    let before = try file.environment.information().lastTransaction
    let keys = (0..<100).map { Array("k\($0)".utf8) }
    var found = 0
    for round in 0..<20_000 {
      let key = keys[round % 100]
      let size = cache.withRecord(forKey: key.rawSpan) { _, bytes in bytes.byteCount }
      if size == 200, cache.contains(key.rawSpan) { found += 1 }
    }
    #expect(found == 20_000)
    #expect(try file.environment.information().lastTransaction == before)
    #expect(cache.statistics.hits == 20_000)
    try await tier.close()
  }

  @Test func `frequently read keys survive a scan of new keys many times larger than the limit`() async throws {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch, limit: .mebibytes(1))
    let cache = try tier.cache()
    for number in 0..<30 { cache.put("hot-\(number)", value(number, size: 1000)) }
    try await tier.flush()
    for number in 0..<3000 {
      cache.put("cold-\(number)", value(number, size: 1000))
      if number % 20 == 0 {
        for hot in 0..<30 { #expect(cache.get("hot-\(hot)") != nil, "after \(number)") }
        try await tier.flush()
      }
    }
    try await tier.flush()
    #expect(cache.statistics.evictions > 1000)
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test func `recency marks survive a transaction that was aborted because the map was full`() async throws {
    let scratch = TemporaryDirectory()
    let next = Switch<DiskFaults.Fault>()
    let tier = try openTier(
      scratch, limit: .mebibytes(1), interval: .unreachable, faults: DiskFaults { next.take() })
    let cache = try tier.cache()
    for number in 0..<30 { cache.put("hot-\(number)", value(number, size: 1000)) }
    try await tier.flush()
    for number in 0..<3000 {
      cache.put("cold-\(number)", value(number, size: 1000))
      guard number % 20 == 0 else { continue }
      let found = (0..<30).filter { cache.get("hot-\($0)") != nil }
      try #require(found.count == 30, "after \(number)")
      next.set(.mapFull)
      try await tier.flush()
    }
    #expect(cache.statistics.evictions > 1000)
    try await tier.close()
  }

  @Test func `records that are not read are evicted in write order`() async throws {
    let scratch = TemporaryDirectory()
    let delivered = DeliveredReports()
    let tier = try openTier(scratch, limit: .mebibytes(1))
    let cache = try tier.cache(delivered: delivered)
    for number in 0..<2000 {
      cache.put("\(number)", value(number, size: 1000))
      if number % 10 == 0 { try await tier.flush() }
    }
    try await tier.flush()
    let gone = delivered.lost(.evicted).compactMap { Int(String(decoding: $0, as: UTF8.self)) }
    #expect(gone.count > 1000)
    // Records of one commit group are in key order, and the groups are in time order.
    #expect(zip(gone, gone.dropFirst()).allSatisfy { $0 < $1 + 20 })
    #expect(Set(gone).count == gone.count)
    let expected = Set((0..<2000).map { "\($0)" }).subtracting(gone.map { "\($0)" })
    #expect(cache.keys().symmetricDifference(expected) == [])
    #expect(cache.statistics.evictions == gone.count)
    try await tier.close()
  }

  @Test func `a recency mark can be set and cleared for any sequence number`() {
    let recency = RecencyBitmap(capacity: 5000)
    for number in [0, 1, 63, 64, 8191, 8192, SequenceNumber(number: 1 << 40), .max] as [SequenceNumber] {
      #expect(!recency.isMarked(number))
      recency.mark(number)
      recency.mark(number)
      #expect(recency.isMarked(number))
      recency.clear(number)
      #expect(!recency.isMarked(number))
    }
  }

  @Test(arguments: [1 << 20, 6 << 20])
  func `records in the extents of a full file share no recency marks`(mapSize: Int) throws {
    let limits = try DiskLimits(.bytes(mapSize), location: "")
    let recency = RecencyBitmap(capacity: limits.recencyCapacity)
    let layout = ExtentLayout(mapSize: mapSize)
    for number in 0..<UInt32(mapSize / layout.size) {
      for offset in stride(from: 0, to: layout.size, by: RecencyBitmap.bytesPerMark) {
        let mark = RecordAddress(ExtentNumber(number: number), offset: offset, in: layout).mark
        guard !recency.isMarked(mark) else {
          Issue.record("extent \(number), offset \(offset)")
          return
        }
        recency.mark(mark)
      }
    }
  }

  @Test func `without memory for the bitmap, no record is ever marked`() {
    let recency = RecencyBitmap(capacity: 5000, hasMemory: false)
    recency.mark(7)
    #expect(!recency.isMarked(7))
    recency.clear(7)
  }
}
