import CisternTestSupport
import LMDB
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Reads of records in extents: damage, equal digests, and enumerations in the order of digests.
@Suite struct ExtentReadingTests {
  private let scratch = TemporaryDirectory()

  /// A store whose file has extents, and its cache.
  fileprivate struct Subject {
    let tier: DiskTier
    let cache: DiskPartition

    var file: DiskFile { get throws { try #require(tier.engine.file) } }

    var tables: DenseTables {
      get throws {
        guard case .dense(let tables) = try file.layout else {
          throw LMDBError(.invalid, operation: "test", message: "the file has no extents")
        }
        return tables
      }
    }

    func value(_ key: [UInt8]) -> [UInt8]? { cache.withRecord(forKey: key.rawSpan) { $1.copiedBytes() } }

    func contains(_ key: [UInt8]) -> Bool { cache.contains(key.rawSpan) }

    func position(of key: [UInt8]) -> KeyPosition { cache.position(of: key.rawSpan) }

    /// The address and the offset of the key's bytes in the record.
    @inline(never) func place(of key: [UInt8]) throws -> (address: RecordAddress, keyOffset: Int) {
      let tables = try tables
      let found = try file.environment.withRead { (transaction) throws(LMDBError) -> (RecordAddress, Int)? in
        var isDamaged = false
        guard
          let record = try tables.record(forKey: key.rawSpan, of: .first, in: transaction, isDamaged: &isDamaged)
        else { return nil }
        return (record.address, record.header.key.lowerBound)
      }
      return try #require(found)
    }

    /// Inverts a bit in a part of the record of a key. The function is not inlined, because the optimizer of Swift 6.3
    /// fails in an asynchronous function that contains it.
    @inline(never) func damage(_ part: String, of key: [UInt8]) throws {
      let (address, keyOffset) = try place(of: key)
      switch part {
      case "value": try flip(keyOffset + key.count + 50, at: address)
      case "key": try flip(keyOffset + 2, at: address)
      default: try flip(14, at: address)
      }
    }

    /// Inverts a bit of the record at an address.
    private func flip(_ offset: Int, at address: RecordAddress) throws {
      let tables = try tables
      guard case .inExtent(let number, let start)? = address.location(in: tables.limits.layout) else {
        Issue.record("the record is a separate value")
        return
      }
      try file.environment.withWrite { (transaction) throws(LMDBError) in
        let key = UInt(number.number)
        let place = start - ExtentLayout.headerSize + offset
        let byte = try transaction.value(forKey: key, in: tables.extents)?.byte(at: place) ?? 0
        try transaction.fixedValue(forKey: key, in: tables.extents)?.write([byte ^ 1].rawSpan, at: place)
      }
    }
  }

  private func open(limit: ByteCount = .mebibytes(8)) throws -> Subject {
    var options = DiskOptions(limit: limit, layout: .dense, durability: .processCrash)
    options.commitInterval = .milliseconds(1)
    options.retryInterval = .unreachable
    let tier = try DiskTier(directory: scratch.store, options: options)
    return Subject(tier: tier, cache: try tier.diskPartition(named: "cache"))
  }

  private func keys(_ count: Int) -> [[UInt8]] {
    EqualDigests.keys + (0..<count).map { CisternTestSupport.value($0, size: 1 + $0 % 90) + bytes("\($0)") }
  }

  @Test func `records of all sizes are found, also those with equal digests and after a new opening`() async throws {
    var subject = try open()
    let keys = keys(600)
    for (number, key) in keys.enumerated() { subject.cache.put(key, value(number, size: number * 97 % 3000)) }
    // A separate value.
    subject.cache.put("large", value(1, size: 100_000))
    try await subject.tier.flush()
    for _ in 0..<2 {
      for (number, key) in keys.enumerated() {
        #expect(subject.value(key) == value(number, size: number * 97 % 3000))
        #expect(subject.contains(key))
      }
      #expect(subject.value(bytes("large")) == value(1, size: 100_000))
      #expect(subject.value(bytes("absent")) == nil && !subject.contains(bytes("absent")))
      try await subject.tier.close()
      subject = try open()
    }
    try await subject.tier.close()
  }

  @Test(arguments: ["value", "key", "size"])
  func `a damaged record is a miss, and the writer removes it`(part: String) async throws {
    let subject = try open()
    for number in 0..<20 { subject.cache.put("key \(number)", value(number, size: 100)) }
    try await subject.tier.flush()
    let key = bytes("key 7")
    try subject.damage(part, of: key)
    // An enumeration does not read values. It has no key that the index does not lead to.
    let chunk = try subject.cache.records(in: RecordRange(after: nil, limit: 100))
    #expect(chunk.records.count == (part == "value" ? 20 : 19))
    #expect(subject.value(key) == nil)
    #expect(subject.cache.statistics.damaged == 1)
    try await subject.tier.flush()
    // The writer thread has removed the item.
    while try subject.itemCount != 19 { await Task.yield() }
    for number in 0..<20 where number != 7 {
      #expect(subject.value(bytes("key \(number)")) == value(number, size: 100))
    }
    subject.cache.put("key 7", [1])
    try await subject.tier.flush()
    #expect(subject.value(key) == [1])
    try await subject.tier.close()
  }

  @Test func `a record at a place that the file does not have is a miss`() async throws {
    let subject = try open()
    let keys = (0..<3).map { bytes("key \($0)") }
    for key in keys { subject.cache.put(key, value(1, size: 100)) }
    try await subject.tier.flush()
    let tables = try subject.tables
    let addresses = [
      RecordAddress(ExtentNumber(number: 1000), offset: 16, in: tables.limits.layout), RecordAddress(separate: 9),
      RecordAddress(ExtentNumber(number: 0), offset: 4, in: tables.limits.layout),
    ]
    try subject.file.environment.withWrite { (transaction) throws(LMDBError) in
      var cursor = try transaction.cursor(forKey: IndexKey(Generation.first.number), in: tables.index)
      for (key, address) in zip(keys, addresses) {
        _ = try cursor.move(toFirstFrom: RecordDigest(of: key.rawSpan).bits)
        try cursor.replaceAddress(with: address.bits)
      }
    }
    #expect(try subject.cache.records(in: RecordRange(after: nil, limit: 10)).records.isEmpty)
    for key in keys { #expect(!subject.contains(key)) }
    for key in keys { #expect(subject.value(key) == nil) }
    while try subject.itemCount > 0 { await Task.yield() }
    #expect(subject.cache.statistics.damaged == 3)
    try await subject.tier.close()
  }

  @Test(arguments: [1, 2, 7, 512]) func `chunks of records have each key once, in the order of digests`(
    limit: Int
  ) async throws {
    let subject = try open()
    let keys = keys(300)
    for (number, key) in keys.enumerated() {
      subject.cache.put(key, value(number, size: number), tags: number % 3 == 0 ? ["third"] : [])
    }
    try await subject.tier.flush()
    var found: [[UInt8]] = []
    var position: KeyPosition?
    var moves = 0
    repeat {
      let chunk = try subject.cache.records(in: RecordRange(after: position, limit: limit))
      for record in chunk.records {
        let key = chunk.withKey(of: record) { $0.copiedBytes() }
        #expect(chunk.position(of: record) == subject.position(of: key))
        found.append(key)
      }
      position = chunk.end
      // Records that move during the enumeration keep their positions.
      moves += 1
      subject.cache.put(keys[moves % keys.count], value(moves, size: 10))
      try await subject.tier.flush()
    } while position != nil
    let digests = found.map { RecordDigest(of: $0.rawSpan) }
    #expect(zip(digests, digests.dropFirst()).allSatisfy { $0.0 <= $0.1 })
    #expect(found.count == keys.count && Set(found) == Set(keys))
    var listed: [[UInt8]] = []
    subject.cache.forEachRecord { key, metadata, size in
      listed.append(key.copiedBytes())
      return true
    }
    #expect(listed.count == keys.count && Set(listed) == Set(keys))
    try await subject.tier.close()
  }

  @Test func `an enumeration by prefix has the keys that begin with it, without concealed ones`() async throws {
    let subject = try open()
    for number in 0..<100 { subject.cache.put("\(number % 10)/\(number)", [1], tags: number % 20 == 3 ? ["t"] : []) }
    try await subject.tier.flush()
    _ = subject.cache.stageRemoval(of: .tag("t"))
    var found: Set<[UInt8]> = []
    var position: KeyPosition?
    repeat {
      let chunk = try subject.cache.records(in: RecordRange(after: position, prefix: bytes("3/"), limit: 8))
      for record in chunk.records { found.insert(chunk.withKey(of: record) { $0.copiedBytes() }) }
      position = chunk.end
    } while position != nil
    #expect(found == Set([13, 33, 53, 73, 93].map { bytes("3/\($0)") }))
    try await subject.tier.close()
  }
}

extension ExtentReadingTests.Subject {
  fileprivate var itemCount: Int {
    @inline(never) get throws {
      let tables = try tables
      return try file.environment.withRead { (transaction) throws(LMDBError) in
        try transaction.itemCount(in: tables.index)
      }
    }
  }
}
