import CisternTesting
import Testing

@testable import CisternDisk

/// The places of records in extents, and the reuse of extents.
struct ExtentLogTests {
  private let layout = ExtentLayout(mapSize: 1 << 20)

  /// Creates a log whose extents can be written in transaction 10.
  private func log(count: Int) -> ExtentLog {
    var log = ExtentLog(layout: layout)
    for _ in 0..<count { _ = log.add() }
    return log
  }

  private func place(
    _ size: Int, in stream: Extent.Stream, from age: ExtentAge? = nil, of log: inout ExtentLog
  ) throws -> RecordAddress {
    let address = log.place(size, in: stream, from: age, during: horizon(10))
    return try #require(address)
  }

  private func horizon(_ current: UInt, oldest: UInt? = nil) -> TransactionHorizon {
    TransactionHorizon(
      current: TransactionNumber(number: current), oldestSnapshot: oldest.map { TransactionNumber(number: $0) })
  }

  @Test func `an extent takes a small part of the map, from 16 KiB to 1 MiB`() {
    #expect(ExtentLayout(mapSize: 0).size == 16 << 10)
    #expect(ExtentLayout(mapSize: 256 << 10).size == 16 << 10)
    #expect(ExtentLayout(mapSize: 64 << 20).size == 512 << 10)
    #expect(ExtentLayout(mapSize: (64 << 20) - 4096).size == 256 << 10)
    #expect(ExtentLayout(mapSize: 1 << 30).size == 1 << 20)
    #expect(ExtentLayout(mapSize: .max).size == 1 << 20)
    #expect(ExtentLayout(shift: 13) == nil && ExtentLayout(shift: 21) == nil)
  }

  @Test func `an address has 48 bits and names an extent or a separate record`() throws {
    let last = ExtentNumber(number: ExtentNumber.limit - 1)
    for layout in ExtentLayout.shifts.compactMap(ExtentLayout.init(shift:)) {
      for (number, offset) in [(ExtentNumber(number: 0), 16), (last, layout.size - 4)] {
        let address = RecordAddress(number, offset: offset, in: layout)
        #expect(address.location(in: layout) == .inExtent(number, offset: offset))
        #expect(RecordAddress(bits: address.bits) == address)
      }
    }
    #expect(RecordAddress(separate: 7).location(in: layout) == .separate(7))
    #expect(RecordAddress(bits: 1 << 48) == nil)
    // No file has extents of this number.
    #expect(try #require(RecordAddress(bits: (1 << 47) - 1)).location(in: layout) == nil)
  }

  @Test func `records follow each other at multiples of four bytes until the extent is full`() throws {
    var log = log(count: 3)
    let first = try place(101, in: .writes, of: &log)
    let second = try place(7, in: .writes, of: &log)
    #expect(first.location(in: layout) == .inExtent(ExtentNumber(number: 0), offset: 16))
    #expect(second.location(in: layout) == .inExtent(ExtentNumber(number: 0), offset: 16 + 104))
    #expect(log.liveBytes == 112)
    log.remove(101, at: first)
    #expect(log.liveBytes == 8 && log[ExtentNumber(number: 0)]?.liveBytes == 8)
    for _ in 0..<4 { _ = try place(layout.largestRecord, in: .writes, of: &log) }
    #expect(log[ExtentNumber(number: 0)]?.isClosed == true)
    #expect(log[ExtentNumber(number: 1)]?.state == .open(.writes))
  }

  @Test func `new records leave a free extent for copies`() throws {
    var log = log(count: 3)
    for _ in 0..<6 { _ = try place(layout.largestRecord, in: .writes, of: &log) }
    #expect(log.place(layout.largestRecord, in: .writes, during: horizon(10)) == nil)
    let age = try #require(log[ExtentNumber(number: 0)]?.age)
    let copy = try place(layout.largestRecord, in: .copies, from: age, of: &log)
    #expect(copy.location(in: layout) == .inExtent(ExtentNumber(number: 2), offset: 16))
    #expect(log[ExtentNumber(number: 2)]?.age == age)
  }

  @Test func `an extent of copies has the age of its newest record`() throws {
    var log = log(count: 6)
    for _ in 0..<4 { _ = try place(layout.largestRecord, in: .writes, of: &log) }
    let ages = try (0..<2).map { try #require(log[ExtentNumber(number: UInt32($0))]?.age) }
    try #require(ages[0] < ages[1])
    _ = try place(8, in: .copies, from: ages[0], of: &log)
    let copies = try #require(log.open[.copies])
    #expect(log[copies]?.age == ages[0])
    _ = try place(8, in: .copies, from: ages[1], of: &log)
    #expect(log[copies]?.age == ages[1])
    _ = try place(8, in: .copies, from: ages[0], of: &log)
    #expect(log[copies]?.age == ages[1])
    for _ in 0..<4 { _ = try place(layout.largestRecord, in: .writes, of: &log) }
    let newest = log.newestAge
    // A second chance.
    _ = try place(8, in: .copies, of: &log)
    let raised = try #require(log[copies]?.age)
    #expect(raised > newest)
    _ = try place(8, in: .copies, of: &log)
    #expect(log[copies]?.age == raised)
  }

  @Test func `an emptied extent is written after another commit, when no older reader is left`() throws {
    var log = log(count: 2)
    _ = try place(100, in: .writes, of: &log)
    log.closeOpen(.writes)
    log.empty(ExtentNumber(number: 0), in: TransactionNumber(number: 10))
    #expect(log.liveBytes == 0 && log.freeCount == 2)
    let rule = { (current: UInt, oldest: UInt?) in
      horizon(current, oldest: oldest).allowsReuse(of: TransactionNumber(number: 10))
    }
    #expect(!rule(10, nil) && !rule(11, nil) && rule(12, nil))
    #expect(!rule(20, 9) && rule(20, 10) && rule(20, 19))
  }

  @Test func `an added extent receives records in its own transaction, before all other free ones`() throws {
    var log = log(count: 3)
    let former = log
    log.begin()
    let added = log.add()
    #expect(log.addedCount == 1 && !log.hasPending(during: horizon(5)))
    // No reader can see older records in it.
    let placed = log.place(10, in: .writes, during: horizon(5, oldest: 1))
    let address = try #require(placed)
    #expect(address == RecordAddress(added, offset: ExtentLayout.headerSize, in: layout))
    #expect(log.freeCount == 3)
    log.abort()
    #expect(log == former)
    log.begin()
    #expect(log.add() == added)
    log.commit()
    #expect(log.addedCount == 0)
    let next = log.place(10, in: .writes, during: horizon(6))
    #expect(next == RecordAddress(ExtentNumber(number: 0), offset: ExtentLayout.headerSize, in: layout))
  }

  @Test func `the number of a released extent is not used again`() {
    var log = log(count: 2)
    log.release(ExtentNumber(number: 1))
    #expect(log.count == 1 && log.freeCount == 1 && log[ExtentNumber(number: 1)] == nil)
    #expect(log.add() == ExtentNumber(number: 2))
    // A stale address has no effect.
    log.remove(10, at: RecordAddress(ExtentNumber(number: 1), offset: 16, in: layout))
    #expect(log.liveBytes == 0)
  }

  @Test func `a dense store evicts its oldest extent, and another one cleans its sparsest`() throws {
    var log = log(count: 8)
    let policy = ReclaimPolicy(meanRecordSize: 1000)
    // Four records fill an extent.
    let size = layout.capacity / 4
    var addresses: [RecordAddress] = []
    for _ in 0..<28 { addresses.append(try place(size, in: .writes, of: &log)) }
    let oldest = ReclaimPolicy.Choice(number: ExtentNumber(number: 0), method: .evict)
    log.remove(size, at: addresses[9])
    #expect(policy.choose(in: log, canCopy: true) == oldest, "the store is dense")
    for address in addresses[12...13] { log.remove(size, at: address) }
    let sparsest = ReclaimPolicy.Choice(number: ExtentNumber(number: 3), method: .clean)
    #expect(policy.choose(in: log, canCopy: true) == sparsest)
    #expect(policy.choose(in: log, canCopy: false) == oldest, "a copy has no place")
    for address in addresses[14...15] { log.remove(size, at: address) }
    #expect(policy.choose(in: log, canCopy: false) == sparsest, "an extent without live records needs no copy")
    #expect(policy.choose(in: ExtentLog(layout: layout), canCopy: true) == nil)
  }

  @Test func `a store with many free extents evicts if all others are almost full`() throws {
    var log = log(count: 8)
    for _ in 0..<12 { _ = try place(layout.capacity / 4, in: .writes, of: &log) }
    #expect(
      ReclaimPolicy(meanRecordSize: 1000).choose(in: log, canCopy: true)
        == ReclaimPolicy.Choice(number: ExtentNumber(number: 0), method: .evict))
  }

  @Test func `used records get a second chance in up to half of an extent`() {
    let choice = ReclaimPolicy.Choice(number: ExtentNumber(number: 0), method: .evict)
    var reclaim = Reclaim(choice, age: .zero)
    #expect(reclaim.examine(.dead, in: layout, canCopy: true) == .skip)
    #expect(reclaim.examine(.live(size: 4000, isUsed: false), in: layout, canCopy: true) == .evict)
    #expect(reclaim.examine(.live(size: 4000, isUsed: true), in: layout, canCopy: false) == .evict)
    #expect(reclaim.examine(.live(size: 4000, isUsed: true), in: layout, canCopy: true) == .copy)
    #expect(reclaim.examine(.live(size: 4000, isUsed: true), in: layout, canCopy: true) == .copy)
    #expect(reclaim.examine(.live(size: 4000, isUsed: true), in: layout, canCopy: true) == .evict)
    #expect(reclaim.position == 6 && reclaim.copiedBytes == 8000)
    var cleaning = Reclaim(ReclaimPolicy.Choice(number: ExtentNumber(number: 0), method: .clean), age: .zero)
    for _ in 0..<4 {
      #expect(cleaning.examine(.live(size: 4000, isUsed: false), in: layout, canCopy: true) == .copy)
    }
  }

  @Test func `evictions without second chances let whole extents of used records survive later`() throws {
    let layout = try #require(ExtentLayout(shift: 14))
    var log = ExtentLog(layout: layout)
    for _ in 0..<64 { _ = log.add() }
    let most = Reclaim.mostSavedBytes(in: log)
    #expect(most == 8 * layout.capacity)
    func copied(saved: Int) -> (bytes: Int, saved: Int) {
      let choice = ReclaimPolicy.Choice(number: ExtentNumber(number: 0), method: .evict)
      var reclaim = Reclaim(choice, age: ExtentAge(number: 1))
      for _ in 0..<16 {
        _ = reclaim.examine(.live(size: 1000, isUsed: true), in: layout, canCopy: true, saved: saved)
      }
      return (reclaim.copiedBytes, reclaim.savedBytes(after: saved, in: log))
    }
    let unused = Reclaim(
      ReclaimPolicy.Choice(number: ExtentNumber(number: 0), method: .evict), age: ExtentAge(number: 1))
    var saved = 0
    for _ in 0..<20 { saved = unused.savedBytes(after: saved, in: log) }
    #expect(saved == most)
    #expect(unused.savedBytes(after: .max, in: log) == most)
    #expect(copied(saved: saved).bytes == 16_000)
    // Half of all extents can be copied on average, however many records are used.
    var total = 0
    for _ in 0..<40 {
      let (bytes, rest) = copied(saved: saved)
      total += bytes
      saved = rest
    }
    #expect(total <= (40 / 2 + 8) * layout.capacity && total > 40 / 2 * (layout.capacity - 2000))
    let cleaning = Reclaim(
      ReclaimPolicy.Choice(number: ExtentNumber(number: 0), method: .clean), age: ExtentAge(number: 1))
    #expect(cleaning.savedBytes(after: 77, in: log) == 77)
  }

  @Test func `a transaction does not release an extent that it added`() {
    var log = log(count: 0)
    log.begin()
    let number = log.add()
    #expect(log.newestFree == nil)
    log.commit()
    #expect(log.newestFree == number)
    log.begin()
    _ = log.add()
    #expect(log.newestFree == number)
  }
}
