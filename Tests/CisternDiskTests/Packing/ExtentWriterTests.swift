import CisternTesting
import CisternTestSupport
import LMDB
import Testing

@testable import CisternCore
@testable import CisternDisk

/// The way of records from a transaction into extents.
struct ExtentWriterTests {
  private let layout = ExtentLayout(mapSize: 1 << 20)
  private let horizon = TransactionHorizon(current: TransactionNumber(number: 10), oldestSnapshot: nil)

  /// The log and the values of extents that can be written.
  private struct File {
    var log: ExtentLog
    var values: ByteExtents
    var writer: ExtentWriter
  }

  private func file(count: Int) -> File {
    var file = File(
      log: ExtentLog(layout: layout), values: ByteExtents(layout: layout),
      writer: ExtentWriter(layout: layout, pageSize: 4096))
    for _ in 0..<count { file.values.add(file.log.add()) }
    return file
  }

  private func draft(_ number: Int, size: Int) -> RecordDraft {
    RecordDraft(
      key: bytes("key \(number)"), metadata: RecordMetadata(created: WallTime(nanosecondsSince1970: 1), cost: 1),
      bytes: value(number, size: size))
  }

  private func append(
    _ draft: RecordDraft, in stream: Extent.Stream = .writes, to file: inout File
  ) throws -> RecordAddress {
    let placed = file.log.place(draft.packedSize, in: stream, from: .zero, during: horizon)
    let address = try #require(placed)
    try file.writer.append(ExtentLayout.room(for: draft.packedSize), at: address, in: stream, to: &file.values) {
      draft.pack(for: PartitionNumber(number: 1), at: address, into: &$0)
    }
    return address
  }

  /// Returns the value of the record at an address, as a reader that knows no transaction finds it.
  private func stored(at address: RecordAddress, in file: File) throws -> [UInt8]? {
    guard case .inExtent(let number, let offset)? = address.location(in: layout) else { return nil }
    return try file.values.withBytes(of: number, from: offset) { bytes in
      PackedHeader(bytes, at: address).map { bytes.extracting($0.value).copiedBytes() }
    } ?? nil
  }

  private func found(at address: RecordAddress, in file: File) throws -> [UInt8]? {
    try file.writer.withBytes(at: address, in: file.values) { bytes in
      PackedHeader(bytes, at: address).map { bytes.extracting($0.value).copiedBytes() }
    } ?? nil
  }

  @Test func `records reach the file with the flush, in one write for each open extent`() throws {
    var file = file(count: 3)
    var addresses: [RecordAddress] = []
    for number in 0..<20 {
      addresses.append(try append(draft(number, size: 100), in: number % 4 == 0 ? .copies : .writes, to: &file))
    }
    for (number, address) in addresses.enumerated() {
      #expect(try found(at: address, in: file) == value(number, size: 100))
      #expect(try stored(at: address, in: file) == nil)
    }
    #expect(file.values.writes.isEmpty)
    try file.writer.flush(to: &file.values)
    #expect(file.values.writes.count == 2)
    for (number, address) in addresses.enumerated() {
      #expect(try stored(at: address, in: file) == value(number, size: 100))
      #expect(try found(at: address, in: file) == value(number, size: 100))
    }
    try file.writer.flush(to: &file.values)
    #expect(file.values.writes.count == 2)
  }

  @Test func `a full extent is written at once, and its records stay readable`() throws {
    var file = file(count: 4)
    var addresses: [RecordAddress] = []
    for number in 0..<10 { addresses.append(try append(draft(number, size: 3900), to: &file)) }
    #expect(file.values.writes.map(\.extent.number) == [0, 1])
    for (number, address) in addresses.enumerated() {
      #expect(try found(at: address, in: file) == value(number, size: 3900))
    }
  }

  @Test func `a record of any size up to the limit lies in one extent`() throws {
    for size in [1, 2, 3, 4, layout.largestRecord - 28, layout.largestRecord - 27] {
      var file = file(count: 3)
      var addresses: [RecordAddress] = []
      for number in 0..<3 {
        let draft = draft(number, size: size)
        try #require(draft.packedSize <= layout.largestRecord + 2)
        guard draft.packedSize <= layout.largestRecord else { continue }
        addresses.append(try append(draft, to: &file))
      }
      try file.writer.flush(to: &file.values)
      for (number, address) in addresses.enumerated() {
        #expect(try stored(at: address, in: file) == value(number, size: size))
      }
    }
  }

  @Test func `after a failed write and an abort, the committed records are unchanged`() throws {
    var file = file(count: 4)
    file.log.begin()
    let first = try append(draft(1, size: 500), to: &file)
    try file.writer.flush(to: &file.values)
    file.log.commit()
    for failing in 0..<3 {
      let former = file.log
      file.log.begin()
      file.values.writesUntilFailure = failing
      #expect(throws: LMDBError.self) {
        // Two extents become full, so the third write is that of the flush.
        for number in 0..<9 { _ = try append(draft(number, size: 3900), to: &file) }
        try file.writer.flush(to: &file.values)
      }
      file.log.abort()
      file.writer = ExtentWriter(layout: layout, pageSize: 4096)
      file.values.writesUntilFailure = nil
      #expect(file.log == former)
      #expect(try stored(at: first, in: file) == value(1, size: 500))
    }
    let next = try append(draft(2, size: 500), to: &file)
    try file.writer.flush(to: &file.values)
    #expect(try stored(at: next, in: file) == value(2, size: 500))
    #expect(try stored(at: first, in: file) == value(1, size: 500))
  }

  @Test func `a durable commit writes to no page of an earlier one`() throws {
    var generator = SeededGenerator(seed: 3)
    var file = file(count: 100)
    var used: Set<Int> = []
    var stored: [(RecordAddress, Int, Int)] = []
    for number in 0..<40 {
      let isDurable = Bool.random(using: &generator)
      file.log.begin(pageSize: 4096, avoidsSharedPages: isDurable)
      let first = file.values.writes.count
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        let size = Int.random(in: 1...2000, using: &generator)
        let stream = Extent.Stream.allCases.randomElement(using: &generator) ?? .writes
        stored.append((try append(draft(number, size: size), in: stream, to: &file), number, size))
      }
      try file.writer.flush(to: &file.values)
      file.log.commit()
      var pages: Set<Int> = []
      for write in file.values.writes[first...] {
        for page in write.range.lowerBound / 4096...(write.range.upperBound - 1) / 4096 {
          pages.insert(Int(write.extent.number) * 1024 + page)
        }
      }
      #expect(!isDurable || pages.isDisjoint(with: used))
      used.formUnion(pages)
    }
    for (address, number, size) in stored {
      #expect(try self.stored(at: address, in: file) == value(number, size: size))
    }
  }
}
