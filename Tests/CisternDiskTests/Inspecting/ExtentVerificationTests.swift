import CisternTestSupport
import LMDB
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Verification of a store whose records are in extents, in which each kind of defect is planted.
@Suite struct ExtentVerificationTests {
  private struct Planted {
    let scratch = TemporaryDirectory()
    let delivered = DeliveredReports()
    let tier: DiskTier
    let cache: any TransactionalPartition
    let file: DiskFile
    let tables: DenseTables
    let generation: Generation
    /// The addresses of the records of the keys k0 to k9.
    let addresses: [RecordAddress]

    init() async throws {
      tier = try openTier(scratch, layout: .dense)
      cache = try tier.cache("things", delivered: delivered)
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

    /// Changes the highest bit of a byte of the record of k3. The closure returns the offset of the byte.
    func damage(_ byte: (PackedHeader) -> Int) throws {
      let (tables, address) = (tables, addresses[3])
      guard case .inExtent(let number, let start)? = address.location(in: tables.limits.layout) else {
        Issue.record("the record is not in an extent")
        return
      }
      let offset = try file.environment.withRead { (transaction) throws(LMDBError) -> Int? in
        guard let record = try tables.bytes(at: address, in: transaction) else { return nil }
        return PackedHeader(record, at: address).map(byte)
      }
      let place = start - ExtentLayout.headerSize + (try #require(offset))
      try change { (indexed) throws(LMDBError) in
        let value = try indexed.transaction.value(forKey: UInt(number.number), in: tables.extents)
        let changed = [(value?.byte(at: place) ?? 0) ^ 128]
        try indexed.transaction.fixedValue(forKey: UInt(number.number), in: tables.extents)?
          .write(changed.rawSpan, at: place)
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
    try planted.damage { _ in 100 }
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
    #expect(result.defects.map(\.kind) == [.damagedRecord])
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

  @Test(arguments: [false, true])
  func `a store that has removed a damaged record has no defects`(hasOtherSize: Bool) async throws {
    let planted = try await Planted()
    // The second byte of the size, so that the record seems to have 32 KiB more. Otherwise a byte of the key.
    try planted.damage { hasOtherSize ? 13 : $0.key.lowerBound }
    let (cache, tier) = (planted.cache, planted.tier)
    #expect(cache.get("k3") == nil)
    while planted.delivered.lost(.damaged).isEmpty { await Task.yield() }
    try await tier.flush()
    let result = try await planted.verify()
    #expect(result.isSound && result.recordCount == 9, "\(result.defects)")
    let counts = try planted.file.environment.withRead { (transaction) throws(LMDBError) in
      try transaction.counts(of: planted.generation, in: planted.file.meta)
    }
    #expect(counts.map { $0.records == 9 && $0.bytes >= 0 } == true)
    #expect(tier.checkInvariants() == [])
    try await tier.close()
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
