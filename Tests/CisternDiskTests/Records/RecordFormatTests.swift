import CisternTesting
import CisternTestSupport
import LMDB
import Testing

@testable import CisternCore
@testable import CisternDisk

@Suite struct RecordFormatTests {
  static let metadata: [RecordMetadata] = [
    RecordMetadata(created: WallTime(nanosecondsSince1970: 5), cost: 0),
    RecordMetadata(
      created: WallTime(nanosecondsSince1970: .min), expires: WallTime(nanosecondsSince1970: .max), cost: .max,
      schemaVersion: .max, tags: ["", "tag", "größer"]),
    RecordMetadata(created: WallTime(nanosecondsSince1970: -1), cost: 3, schemaVersion: 2),
    RecordMetadata(created: WallTime(nanosecondsSince1970: 0), cost: 3, tags: ["one"]),
    RecordMetadata(
      created: WallTime(nanosecondsSince1970: 7), expires: WallTime(nanosecondsSince1970: 8), cost: 1, schemaVersion: 3,
      tags: ["a", "b"]
    ).with {
      $0.grace = .max
      $0.idle = 60
      $0.lastUsed = WallTime(nanosecondsSince1970: -9)
      $0.refreshAhead = 11
      $0.invalidationVersion = 12
      $0.isNegative = true
    },
    small.with { $0.grace = 1 },
    small.with { $0.idle = 1 },
    small.with { $0.lastUsed = WallTime(nanosecondsSince1970: 0) },
    small.with { $0.refreshAhead = 1 },
    small.with { $0.invalidationVersion = .max },
    small.with { $0.isNegative = true },
    small.with { $0.staleWhileRevalidate = 0 },
    RecordMetadata(
      created: WallTime(nanosecondsSince1970: 7), expires: WallTime(nanosecondsSince1970: 8), cost: 1,
      schemaVersion: 3, tags: ["a"]
    ).with {
      $0.grace = 9
      $0.staleWhileRevalidate = 0
      $0.staleIfError = 9
      $0.idle = 60
      $0.refreshAhead = 11
      $0.invalidationVersion = 12
    },
  ]

  private static let small = RecordMetadata(created: WallTime(nanosecondsSince1970: 7), cost: 1)

  func encode(
    _ key: [UInt8], _ metadata: RecordMetadata, _ bytes: [UInt8], sequence: SequenceNumber
  ) -> ([UInt8], DiskKey) {
    let diskKey = DiskKey(generation: 77, key: key.rawSpan)
    let draft = RecordDraft(key: key, metadata: metadata, bytes: bytes)
    var record = [UInt8](repeating: 0xAA, count: draft.size)
    var span = record.mutableSpan
    var target = unsafe span.mutableBytes
    draft.encode(sequence: sequence, under: diskKey, into: &target)
    return (record, diskKey)
  }

  @Test(arguments: metadata, [0, 1, 64, 65, 3000])
  func `a record decodes to the encoded metadata, key and value`(metadata: RecordMetadata, keySize: Int) throws {
    for size in [0, 1, 7, 8, 15, 16, 17, 63, 64, 65, 1000] {
      let key = value(keySize, size: keySize)
      let bytes = value(size, size: size)
      let (record, diskKey) = encode(key, metadata, bytes, sequence: SequenceNumber(number: UInt64(size) << 40))
      let decoded = RecordHeader(record.rawSpan, under: diskKey)
      let header = try #require(decoded)
      #expect(header.sequence.number == UInt64(size) << 40)
      #expect(header.metadata(of: record.rawSpan) == metadata)
      #expect(header.invalidationVersion(of: record.rawSpan).number == metadata.invalidationVersion)
      #expect(record.rawSpan.extracting(header.value).copiedBytes() == bytes)
      #expect(record.rawSpan.extracting(header.key).copiedBytes() == (keySize > 64 ? key : []))
    }
  }

  @Test func `a changed bit, another key or a truncation makes a record undecodable`() {
    let (record, diskKey) = encode(bytes("key"), Self.metadata[1], value(1, size: 100), sequence: 9)
    for bit in 0..<record.count * 8 {
      var changed = record
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      let header = RecordHeader(changed.rawSpan, under: diskKey)
      #expect(header == nil)
    }
    let other = DiskKey(generation: 77, key: bytes("kez").rawSpan)
    let underOther = RecordHeader(record.rawSpan, under: other)
    #expect(underOther == nil)
    let later = DiskKey(generation: 78, key: bytes("key").rawSpan)
    let underLater = RecordHeader(record.rawSpan, under: later)
    #expect(underLater == nil)
    for count in 0..<record.count {
      let header = RecordHeader(record.rawSpan.extracting(0..<count), under: diskKey)
      #expect(header == nil)
    }
  }

  @Test func `decoding arbitrary bytes never traps, even with a correct checksum`() {
    var generator = SeededGenerator(seed: 1)
    for round in 0..<20_000 {
      var record = value(round, size: Int.random(in: 0...120, using: &generator))
      let key = value(round, size: Int.random(in: 0...90, using: &generator))
      if record.count > 12 {
        record[8] = RecordFormat.version
        record[10] = UInt8.random(in: 0...255, using: &generator)
        record[11] = UInt8.random(in: 0...3, using: &generator)
      }
      // Zero bytes make plausible lengths more frequent than by chance.
      for index in record.indices.dropFirst(34) where Bool.random(using: &generator) { record[index] = 0 }
      if record.count >= 8 {
        var span = record.mutableSpan
        var target = unsafe span.mutableBytes
        RecordFormat.seal(&target, under: key.rawSpan)
      }
      if let header = RecordHeader(record.rawSpan, under: key.rawSpan) {
        _ = header.metadata(of: record.rawSpan)
        _ = record.rawSpan.extracting(header.value).copiedBytes()
        _ = record.rawSpan.extracting(header.key).copiedBytes()
      }
      _ = DiskKey(key.rawSpan)?.directKey
      _ = GenerationCounts(record.rawSpan)
      _ = BootMark(record[...])
    }
  }

  @Test func `distinct keys have distinct disk keys, and each generation's disk keys are contiguous`() {
    var keys: [[UInt8]] = [
      [], [0], [0, 0], [255], bytes("é"), value(1, size: 64), value(2, size: 65), value(2, size: 5000),
    ]
    // A key with the bytes of a digest is an ordinary key.
    let long = keys[6]
    let digested = DiskKey(generation: 1, key: long.rawSpan)
    keys.append(Array(digested.copiedBytes()[6..<22]))
    var seen: Set<[UInt8]> = []
    for generation in [1, 2, 255, 256, Generation(number: DiskKey.generationLimit.number - 1)] as [Generation] {
      let start = DiskKey(startOf: generation)
      let next = DiskKey(startOf: generation.next())
      for key in keys {
        let diskKey = DiskKey(generation: generation, key: key.rawSpan)
        #expect(seen.insert(diskKey.copiedBytes()).inserted)
        #expect(diskKey.generation == generation)
        #expect(diskKey.isDigest == (key.count > 64))
        if !diskKey.isDigest { #expect(diskKey.directKey == key) }
        let isBefore = diskKey.withBytes { key in start.withBytes { key.precedes($0) } }
        #expect(!isBefore)
        let isBeforeNext = diskKey.withBytes { key in next.withBytes { key.precedes($0) } }
        #expect(isBeforeNext || generation.next() == DiskKey.generationLimit)
        let again = diskKey.withBytes { DiskKey($0) }
        #expect(again?.copiedBytes() == diskKey.copiedBytes())
      }
    }
  }

  @Test func `the checksum differs for every length and every changed byte`() {
    var sums: Set<UInt64> = []
    for count in 0..<300 { sums.insert(Checksum.of([UInt8](repeating: 0, count: count).rawSpan, seed: 1)) }
    #expect(sums.count == 300)
    for count in [1, 8, 16, 17, 40, 64, 65, 128, 200] {
      let base = value(count, size: count)
      var seen: Set<UInt64> = [Checksum.of(base.rawSpan, seed: 1), Checksum.of(base.rawSpan, seed: 2)]
      for index in 0..<count {
        var changed = base
        changed[index] ^= 0x40
        seen.insert(Checksum.of(changed.rawSpan, seed: 1))
      }
      #expect(seen.count == count + 2)
    }
  }
}
