import CisternTesting
import CisternTestSupport
import LMDB
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Random histories of transactions on a dense file, compared with a dictionary.
struct PackingModelTests {
  @Test func `the keys with equal digests have equal digests`() {
    let digests = EqualDigests.keys.map { RecordDigest(of: $0.rawSpan) }
    for place in stride(from: 0, to: digests.count, by: 2) { #expect(digests[place] == digests[place + 1]) }
    #expect(Set(digests).count == digests.count / 2)
  }

  @Test(arguments: 1...6) func `the file has the records that the transactions committed, and no others`(
    seed: UInt64
  ) throws {
    var history = try PackingHistory(mapSize: seed % 3 == 0 ? 4 << 20 : 1 << 20, seed: seed)
    for step in 0..<200 {
      try history.step()
      if step % 25 == 0 {
        try history.model.check()
        try history.model.checkReaders()
      }
    }
    #expect(history.model.failures > 3 && history.model.renewals > 10)
    #expect(history.model.damagedExtents == 0)
    if seed % 3 != 0 { #expect(history.model.evictions > 0) }
  }

  @Test(arguments: 1...12) func `large values that need pages in a row find them`(seed: UInt64) throws {
    var history = try PackingHistory(mapSize: 1 << 20, writers: seed % 3 == 0 ? 2 : 1, seed: seed)
    history.model.target.usePages()
    history.largestValue = 120_000
    for step in 0..<300 {
      try history.step()
      if step % 25 == 0 {
        try history.model.check()
        try history.model.checkReaders()
      }
    }
    #expect(history.model.evictions > 0 && history.model.renewals > 20 && history.model.damagedExtents == 0)
  }

  @Test(arguments: 1...4) func `records that move keep their newer times`(seed: UInt64) throws {
    var history = try PackingHistory(mapSize: 8 << 20, seed: seed)
    history.usualSizes = RecordRenewal.leastValueSize...24_000
    for step in 0..<500 {
      try history.step()
      if step % 50 == 0 {
        try history.model.check()
        try history.model.checkReaders()
      }
    }
    #expect(history.model.evictions > 0 && history.model.renewals > 50 && history.model.copiedBytes > 100_000)
  }

  @Test(arguments: 1...4) func `writers that take turns agree on the records`(seed: UInt64) throws {
    var history = try PackingHistory(mapSize: 1 << 20, writers: 2, seed: seed)
    for step in 0..<200 {
      try history.step()
      if step % 25 == 0 {
        try history.model.check()
        try history.model.checkReaders()
      }
    }
  }

  @Test(arguments: 1...4) func `live bytes that a restart has lost cost no record`(seed: UInt64) throws {
    var history = try PackingHistory(mapSize: 1 << 20, writers: 2, seed: seed)
    history.model.writesLiveBytes = false
    for step in 0..<200 {
      try history.step()
      if step % 25 == 0 { try history.model.check(hasExactLiveBytes: false) }
    }
    #expect(history.model.damagedExtents == 0)
  }
}
