import CisternTestSupport
import LMDB
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Verification of a store in use, in which each kind of defect is planted. Its records are values under their keys.
@Suite(.enabled(if: DiskLayout.tested == .ordered)) struct DiskVerificationTests {
  private struct Planted {
    let scratch: TemporaryDirectory
    let tier: DiskTier
    let file: DiskFile
    let generation: Generation

    static func make() async throws -> Planted {
      let scratch = TemporaryDirectory()
      let tier = try openTier(scratch)
      let cache = try tier.cache("things")
      for number in 0..<100 { cache.put("k\(number)", value(number, size: 300)) }
      cache.put([UInt8](repeating: 9, count: 200), bytes("long"))
      try await tier.flush()
      let file = try #require(tier.engine.file)
      let generation = try file.environment.withRead { (transaction) throws(LMDBError) in
        try transaction.number(forKey: MetaTable.partition("things"), in: file.meta)
      }
      return Planted(scratch: scratch, tier: tier, file: file, generation: Generation(number: try #require(generation)))
    }

    func key(_ key: String) -> [UInt8] { self.key(bytes(key)) }

    func key(_ key: [UInt8]) -> [UInt8] { DiskKey(generation: generation, key: key.rawSpan).copiedBytes() }

    func record(_ name: String) throws -> [UInt8] {
      let (file, key) = (file, key(name))
      let record = try file.environment.withRead { (transaction) throws(LMDBError) in
        var bytes: [UInt8] = []
        if let record = try transaction.value(forKey: key.rawSpan, in: file.orderedTables.records) {
          bytes = record.copiedBytes()
        }
        return bytes
      }
      #expect(!record.isEmpty)
      return record
    }

    func put(_ record: [UInt8], forKey key: [UInt8]) throws {
      let file = file
      try file.environment.withWrite { (transaction) throws(LMDBError) in
        _ = try transaction.put(record.rawSpan, forKey: key.rawSpan, in: file.orderedTables.records)
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

  @Test func `a sound store has no defects, and all records are counted`() async throws {
    let planted = try await Planted.make()
    let result = try await planted.verify()
    #expect(result.isSound && result.defects == [] && result.defectCount == 0)
    #expect(result.recordCount == 101)
    #expect(result.recordBytes > .bytes(30_000))
    try await planted.tier.close()
  }

  @Test func `a damaged record is found with its cache and its key`() async throws {
    let planted = try await Planted.make()
    var record = try planted.record("k7")
    record[record.count - 1] ^= 1
    try planted.put(record, forKey: planted.key("k7"))
    let result = try await planted.verify()
    let defect = try #require(result.defects.first)
    #expect(result.defectCount == 1 && !result.isSound)
    #expect(defect.kind == .damagedRecord && defect.cache == "things" && defect.key == bytes("k7"))
    #expect(defect.description.contains("k7") && defect.description.contains("things"))
    #expect(result.recordCount == 101)
    // The next read removes the record.
    #expect(try planted.tier.cache("things").get("k7") == nil)
    try await planted.tier.close()
  }

  @Test func `newer times without a record are found, and those of a damaged record are no further defect`()
    async throws
  {
    let planted = try await Planted.make()
    let (file, generation) = (planted.file, planted.generation)
    var record = try planted.record("k7")
    record[record.count - 1] ^= 1
    try planted.put(record, forKey: planted.key("k7"))
    func putRenewal(_ name: String) throws {
      try file.environment.withWrite { (transaction) throws(LMDBError) in
        let key = DiskKey(generation: generation, key: bytes(name).rawSpan)
        try transaction.put(RecordRenewal.sample, ofRecordAt: .key(key), in: file.meta)
      }
    }
    try putRenewal("k7")
    #expect(try await planted.verify().defects.map(\.kind) == [.damagedRecord])
    try putRenewal("absent")
    // A record of this size has none.
    try putRenewal("k8")
    let defects = try await planted.verify().defects
    #expect(defects.map(\.kind) == [.damagedRecord, .strayRecord])
    #expect(defects.last?.description.contains("newer times of 2 records") == true)
    try await planted.tier.close()
  }

  @Test func `a record without an entry in the eviction order is found, and so is an entry without a record`()
    async throws
  {
    let planted = try await Planted.make()
    let record = try planted.record("k7")
    let header = RecordHeader(trusting: record.rawSpan)
    let sequence = try #require(header?.sequence)
    let file = planted.file
    let key = planted.key("k8")
    try file.environment.withWrite { (transaction) throws(LMDBError) in
      _ = try transaction.removeValue(forKey: sequence.orderKey, in: file.orderedTables.order)
      _ = try transaction.put(key.rawSpan, forKey: 1 << 40, in: file.orderedTables.order)
    }
    let result = try await planted.verify()
    #expect(result.defects.map(\.kind) == [.unorderedRecord, .danglingOrder])
    #expect(result.defects.map(\.key) == [bytes("k7"), bytes("k8")])
    #expect(result.defects.allSatisfy { $0.cache == "things" })
    try await planted.tier.close()
  }

  @Test func `a wrong count and a record of an unknown generation are found`() async throws {
    let planted = try await Planted.make()
    let record = try planted.record("k7")
    let file = planted.file
    let generation = planted.generation
    try planted.put(
      record, forKey: DiskKey(generation: Generation(number: 1 << 40), key: bytes("k7").rawSpan).copiedBytes())
    try file.environment.withWrite { (transaction) throws(LMDBError) in
      try transaction.put(GenerationCounts().value, forKey: MetaTable.live(generation), in: file.meta)
    }
    let result = try await planted.verify()
    // The checksum of a record includes its key.
    #expect(result.defects.map(\.kind) == [.damagedRecord, .wrongCount, .strayRecord])
    #expect(result.defects.map(\.cache) == [nil, "things", nil])
    try await planted.tier.close()
  }

  @Test func `a cache whose records are all missing has a wrong count`() async throws {
    let planted = try await Planted.make()
    let file = planted.file
    let keys = (0..<100).map { planted.key("k\($0)") } + [planted.key([UInt8](repeating: 9, count: 200))]
    try file.environment.withWrite { (transaction) throws(LMDBError) in
      // The table of records has the names of the other tables, too.
      for key in keys { _ = try transaction.removeValue(forKey: key.rawSpan, in: file.orderedTables.records) }
      try transaction.removeAll(in: file.orderedTables.order)
    }
    let result = try await planted.verify()
    let kinds = result.defects.map(\.kind)
    #expect(kinds == [.wrongCount])
    #expect(result.defects.first?.cache == "things")
    try await planted.tier.close()
  }

  @Test func `the list of defects has an end, and the number of defects has none`() async throws {
    let planted = try await Planted.make()
    let file = planted.file
    let key = planted.key("k8")
    try file.environment.withWrite { (transaction) throws(LMDBError) in
      for number: UInt in 0..<1500 {
        _ = try transaction.put(key.rawSpan, forKey: 1 << 40 + number, in: file.orderedTables.order)
      }
    }
    let result = try await planted.verify()
    #expect(result.defectCount == 1500)
    #expect(result.defects.count == StoreVerification.longestList)
    try await planted.tier.close()
  }
}
