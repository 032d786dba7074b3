import CisternTesting
import CisternTestSupport
import Testing

@testable import CisternCore
@testable import CisternDisk

/// The bytes of packed records.
struct PackedRecordTests {
  private let layout = ExtentLayout(mapSize: 1 << 20)
  private var address: RecordAddress { RecordAddress(ExtentNumber(number: 3), offset: 4096, in: layout) }
  private let separate = RecordAddress(separate: 9)

  private func pack(_ draft: RecordDraft, partition: UInt16 = 7, at address: RecordAddress) -> [UInt8] {
    var record = [UInt8](repeating: 0xAA, count: PackedRecordFormat.room(for: draft.packedSize))
    var span = record.mutableSpan
    var target = unsafe span.mutableBytes
    draft.pack(for: PartitionNumber(number: partition), at: address, into: &target)
    return record
  }

  private func seal(_ record: inout [UInt8], at address: RecordAddress) {
    var span = record.mutableSpan
    var target = unsafe span.mutableBytes
    PackedRecordFormat.seal(&target, at: address)
  }

  /// Returns whether the bytes decode as a record.
  private func decodes(_ bytes: [UInt8], at address: RecordAddress) -> Bool {
    PackedHeader(bytes.rawSpan, at: address) != nil
  }

  /// Metadata with each combination of the optional fields.
  private var combinations: [RecordMetadata] {
    (0..<1 << 11).map { bits in
      let has = { (bit: Int) in bits & 1 << bit != 0 }
      var metadata = RecordMetadata(
        created: WallTime(nanosecondsSince1970: Int64(bits) - 5),
        expires: has(0) ? WallTime(nanosecondsSince1970: .max) : nil, cost: has(1) ? 9 : 30,
        schemaVersion: has(2) ? .max : 0, tags: has(3) ? ["", "größer"] : [])
      if has(4) { metadata.grace = .max }
      if has(5) { metadata.idle = 5 }
      if has(6) { metadata.lastUsed = WallTime(nanosecondsSince1970: .min) }
      if has(7) { metadata.refreshAhead = 8 }
      if has(8) { metadata.invalidationVersion = 1 << 63 }
      metadata.isNegative = has(9)
      if has(10) { metadata.staleIfError = 3 }
      return metadata
    }
  }

  private func expect(_ record: [UInt8], decodesTo draft: RecordDraft, at address: RecordAddress) throws {
    let span = record.rawSpan
    let decoded = PackedHeader(span, at: address)
    let header = try #require(decoded)
    #expect(header.metadata(of: span) == draft.metadata)
    #expect(header.size == draft.packedSize && header.room == record.count)
    #expect(header.invalidationVersion(of: span).number == draft.metadata.invalidationVersion)
    #expect(header.schemaVersion(of: span) == draft.metadata.schemaVersion)
    #expect(span.extracting(header.key).copiedBytes() == draft.key)
    #expect(span.extracting(header.value).copiedBytes() == draft.bytes)
    #expect(header.partition == PartitionNumber(number: 7))
  }

  @Test func `a record of each combination of fields decodes to the encoded one`() throws {
    for metadata in combinations {
      for keySize in [3, 300] {
        let draft = RecordDraft(key: value(1, size: keySize), metadata: metadata, bytes: value(2, size: 30))
        try expect(pack(draft, at: address), decodesTo: draft, at: address)
      }
    }
  }

  @Test(arguments: [0, 1, 254, 255, 256, 5000]) func `keys and values of all sizes decode`(keySize: Int) throws {
    for size in [0, 1, 2, 3, 4, 63, 64, 65, 4000] {
      let metadata = RecordMetadata(created: WallTime(nanosecondsSince1970: 1), cost: UInt32(max(size, 1)))
      let draft = RecordDraft(key: value(keySize, size: keySize), metadata: metadata, bytes: value(size, size: size))
      #expect(draft.packedSize == 20 + keySize + size + (keySize > 255 ? 4 : 0))
      for address in [address, separate] { try expect(pack(draft, at: address), decodesTo: draft, at: address) }
      // In an extent, other bytes follow.
      try #require(decodes(pack(draft, at: address) + value(3, size: 40), at: address))
    }
  }

  @Test(arguments: [(1 << 24) - 25, (1 << 24) - 24, 1 << 24, (1 << 25) + 3]) func `a separate record can be large`(
    size: Int
  ) throws {
    let metadata = RecordMetadata(created: WallTime(nanosecondsSince1970: 1), cost: 1)
    let draft = RecordDraft(key: bytes("k"), metadata: metadata, bytes: [UInt8](repeating: 7, count: size))
    var record = pack(draft, at: separate)
    let header = PackedHeader(record.rawSpan, at: separate)
    #expect(header?.size == draft.packedSize && header?.value.count == size)
    record += [0, 0, 0, 0]
    #expect(!decodes(record, at: separate))
  }

  @Test func `a changed bit, another address or a truncation makes a record undecodable`() {
    for address in [address, separate] {
      let draft = RecordDraft(key: bytes("key"), metadata: combinations[2047 ^ 512], bytes: value(1, size: 101))
      let record = pack(draft, at: address)
      for bit in 0..<record.count * 8 {
        var changed = record
        changed[bit / 8] ^= 1 << UInt8(bit % 8)
        #expect(!decodes(changed, at: address))
      }
      for bit in 0..<RecordAddress.bitCount - 1 {
        let other = RecordAddress(bits: address.bits ^ 1 << UInt64(bit))
        #expect(other.map { !decodes(record, at: $0) } ?? true)
      }
      for count in 0..<record.count { #expect(!decodes(Array(record.prefix(count)), at: address)) }
    }
  }

  @Test func `addresses close to each other change the checksum differently`() {
    let record = pack(
      RecordDraft(
        key: bytes("key"), metadata: RecordMetadata(created: WallTime(nanosecondsSince1970: 1), cost: 1), bytes: []),
      at: address)
    var sums: Set<UInt32> = []
    for number: UInt32 in 0..<256 {
      for offset in stride(from: 16, to: layout.size, by: 64) {
        let other = RecordAddress(ExtentNumber(number: number), offset: offset, in: layout)
        sums.insert(PackedRecordFormat.checksum(of: record.rawSpan, at: other))
      }
    }
    // Of 2¹⁶ random numbers of 32 bits, hardly one is equal to another.
    #expect(sums.count > 256 * 256 - 8)
  }

  @Test func `a copy is sound at its new address only, and a damaged one stays damaged`() throws {
    let other = RecordAddress(ExtentNumber(number: 4), offset: 16, in: layout)
    let draft = RecordDraft(key: bytes("key"), metadata: combinations[8], bytes: value(1, size: 30))
    func move(_ record: [UInt8]) -> [UInt8] {
      var copy = record
      var span = copy.mutableSpan
      var target = unsafe span.mutableBytes
      PackedRecordFormat.move(&target, from: address, to: other)
      return copy
    }
    let record = pack(draft, at: address)
    try expect(move(record), decodesTo: draft, at: other)
    #expect(!decodes(move(record), at: address))
    var damaged = record
    damaged[40] ^= 1
    #expect(!decodes(move(damaged), at: other))
  }

  @Test func `decoding arbitrary bytes never traps, even with a correct checksum`() {
    var generator = SeededGenerator(seed: 1)
    var decoded = 0
    for round in 0..<20_000 {
      var record = value(round, size: 4 * Int.random(in: 0...40, using: &generator))
      let address = Bool.random(using: &generator) ? address : separate
      if record.count >= 20 {
        // Small numbers make plausible lengths more frequent than by chance.
        record[12] = UInt8(record.count - Int.random(in: 0...3, using: &generator))
        record[13] = 0
        record[14] = 0
        record[15] = Bool.random(using: &generator) ? 0 : 3
        record[17] &= 15
        for index in record.indices.dropFirst(20) where Bool.random(using: &generator) { record[index] = 0 }
        seal(&record, at: address)
      }
      guard let header = PackedHeader(record.rawSpan, at: address) else { continue }
      decoded += 1
      _ = header.metadata(of: record.rawSpan)
      _ = record.rawSpan.extracting(header.value).copiedBytes()
      _ = record.rawSpan.extracting(header.key).copiedBytes()
    }
    #expect(decoded > 1000)
  }
}
