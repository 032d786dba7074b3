import CisternTestSupport
import LMDB
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Verification of a store whose records are in extents, in which each kind of defect is planted.
@Suite struct ExtentVerificationTests {
  private struct Planted {
    let scratch = TemporaryDirectory()
    let tier: DiskTier
    let file: DiskFile
    let tables: DenseTables
    let generation: Generation
    /// The addresses of the records of the keys k0 to k9.
    let addresses: [RecordAddress]

    init() async throws {
      tier = try openTier(scratch, layout: .dense)
      let cache = try tier.cache("things")
      for number in 0..<10 { cache.put("k\(number)", value(number, size: 300)) }
      try await tier.flush()
      file = try #require(tier.engine.file)
      guard case .dense(let tables) = file.layout else { preconditionFailure("the file has no extents") }
      self.tables = tables
      let (file, name) = (file, MetaTable.partition("things"))
      let number = try file.environment.withRead { (transaction) throws(LMDBError) in
        try transaction.generation(forKey: name, in: file.meta)
      }
      let generation = try #require(number)
      self.generation = generation
      addresses = try file.environment.withRead { (transaction) throws(LMDBError) in
        var addresses: [RecordAddress] = []
        for number in 0..<10 {
          let digest = RecordDigest(of: bytes("k\(number)").rawSpan)
          var cursor = try transaction.cursor(forKey: IndexKey(generation.number), in: tables.index)
          if try cursor.move(toFirstFrom: digest.bits), let item = cursor.item,
            let address = RecordAddress(bits: item.address)
          {
            addresses.append(address)
          }
        }
        return addresses
      }
      try #require(addresses.count == 10)
    }

    func change(_ body: (inout IndexTransaction) throws(LMDBError) -> Void) throws {
      try file.environment.withWrite { (transaction) throws(LMDBError) in
        var indexed = IndexTransaction(transaction, index: tables.index)
        do throws(LMDBError) {
          try body(&indexed)
          transaction = indexed.end()
        } catch {
          transaction = indexed.end()
          throw error
        }
      }
    }

    /// Verifies twice, because a verification repairs nothing.
    func verify() async throws -> StoreVerification {
      let first = try await tier.verification()
      let second = try await tier.verification()
      #expect(first.defects == second.defects)
      return second
    }
  }

  @Test func `a sound store has no defects`() async throws {
    let planted = try await Planted()
    let result = try await planted.verify()
    #expect(result.isSound && result.recordCount == 10 && result.recordBytes.bytes >= 3000)
    try await planted.tier.close()
  }

  @Test func `a changed value is found with its key`() async throws {
    let planted = try await Planted()
    let tables = planted.tables
    guard case .inExtent(let number, let offset)? = planted.addresses[3].location(in: tables.limits.layout) else {
      Issue.record("the record is not in an extent")
      return
    }
    try planted.change { (indexed) throws(LMDBError) in
      let place = offset - ExtentLayout.headerSize + 100
      let value = try indexed.transaction.value(forKey: UInt(number.number), in: tables.extents)
      let changed = [(value?.byte(at: place) ?? 0) ^ 1]
      try indexed.transaction.fixedValue(forKey: UInt(number.number), in: tables.extents)?
        .write(changed.rawSpan, at: place)
    }
    // The newer times of a damaged record are no further defect.
    let renewed = planted.addresses[3]
    try planted.change { (indexed) throws(LMDBError) in
      try indexed.transaction.put(RecordRenewal.sample, ofRecordAt: .address(renewed), in: tables.meta)
    }
    let result = try await planted.verify()
    #expect(result.defects.map(\.kind) == [.damagedRecord])
    #expect(result.defects.first?.cache == "things" && result.defects.first?.key == bytes("k3"))
    try await planted.tier.close()
  }

  @Test(arguments: [false, true])
  func `an item that refers to the record of another key, or to none, is found`(isAway: Bool) async throws {
    let planted = try await Planted()
    let layout = planted.tables.limits.layout
    let away = RecordAddress(ExtentNumber(number: 1000), offset: ExtentLayout.headerSize, in: layout)
    let address = isAway ? away : planted.addresses[3]
    try planted.change { (indexed) throws(LMDBError) in
      let digest = RecordDigest(of: bytes("k4").rawSpan)
      _ = try indexed.move(toFirstFrom: digest.bits, forKey: IndexKey(planted.generation.number))
      try indexed.replaceAddress(with: address.bits)
    }
    let result = try await planted.verify()
    // Without a record, its bytes are missing in the count.
    #expect(result.defects.map(\.kind) == (isAway ? [.damagedRecord, .wrongCount] : [.damagedRecord]))
    #expect(result.defects.first?.key == nil)
    try await planted.tier.close()
  }

  @Test func `a count that is not that of the records is found`() async throws {
    let planted = try await Planted()
    try planted.change { (indexed) throws(LMDBError) in
      try indexed.transaction.put(
        GenerationCounts().value, forKey: MetaTable.live(planted.generation), in: planted.file.meta)
    }
    let result = try await planted.verify()
    #expect(result.defects.map(\.kind) == [.wrongCount] && result.defects.first?.cache == "things")
    try await planted.tier.close()
  }

  @Test func `items of a generation without a number are found`() async throws {
    let planted = try await Planted()
    try planted.change { (indexed) throws(LMDBError) in
      _ = try indexed.transaction.remove(
        MetaTable.partitionNumber(PartitionNumber(number: 0)), in: planted.file.meta)
    }
    #expect(try await planted.verify().defects.map(\.kind) == [.strayRecord])
    try await planted.tier.close()
  }

  @Test func `records in extents that the rows do not have are found`() async throws {
    let planted = try await Planted()
    try planted.change { (indexed) throws(LMDBError) in
      let state = try ExtentState(reading: indexed.transaction, planted.tables)
      let log = ExtentLog(layout: planted.tables.limits.layout)
      let row = LogRow(log, nextSeparate: SeparateNumber(number: 0), reclaim: nil)
      let rows = planted.tables.rows
      for (number, _) in state.log.all { try indexed.transaction.removeValue(forKey: UInt(number.number), in: rows) }
      try indexed.transaction.put(row.bytes, forKey: MetaTable.log, in: planted.file.meta)
    }
    let result = try await planted.verify()
    #expect(result.defects.count == 10 && result.defects.allSatisfy { $0.kind == .damagedRecord && $0.key != nil })
    try await planted.tier.close()
  }
}
