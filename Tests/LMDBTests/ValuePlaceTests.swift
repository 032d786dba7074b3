import CisternTesting
import Testing
import TestDirectories

@testable import LMDB

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A value that has its own pages keeps its place, and a write transaction can overwrite it there.
@Suite struct ValuePlaceTests {
  private let fixture: Fixture
  private let table: IntegerDatabase

  init() throws {
    fixture = try Fixture()
    table = try fixture.environment.openIntegerDatabase(named: "table")
  }

  private func put(_ value: [UInt8], _ key: UInt) throws(LMDBError) {
    let table = table
    try fixture.environment.withWrite { (transaction) throws(LMDBError) in
      try transaction.put(value.rawSpan, forKey: key, in: table)
    }
  }

  private func write(_ bytes: [UInt8], at offset: Int, _ key: UInt) throws(LMDBError) {
    let table = table
    try fixture.environment.withWrite { (transaction) throws(LMDBError) in
      guard let value = try transaction.fixedValue(forKey: key, in: table) else { throw .missing }
      try value.write(bytes.rawSpan, at: offset)
    }
  }

  private func place(_ key: UInt) throws(LMDBError) -> ValuePlace? {
    let table = table
    return try fixture.environment.withRead { (transaction) throws(LMDBError) in
      try transaction.place(ofValueForKey: key, in: table)
    }
  }

  private var file: [UInt8] { contents(of: fixture.directory.path + "/data.mdb") }

  @Test func `a place leads to the bytes of the value in the file and in the map`() throws {
    let environment = fixture.environment
    for (key, size) in [2_100, 4_080, 4_081, 16_368, 100_000].enumerated() {
      let value = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ key) }
      try put(value, UInt(key))
    }
    for (key, size) in [2_100, 4_080, 4_081, 16_368, 100_000].enumerated() {
      let value = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ key) }
      let place = try #require(try place(UInt(key)))
      #expect(place.byteCount == size)
      #expect(place.fileOffset == Int(place.page) * 4096 + 16)
      #expect(Array(file[place.fileOffset..<place.fileOffset + size]) == value)
      let transaction = try environment.beginRead()
      let part = [UInt8](copying: transaction.bytes(at: place, offset: 5, count: size - 5))
      #expect(part == Array(value.dropFirst(5)))
      let nothing = [UInt8](copying: transaction.bytes(at: place, offset: size, count: 0))
      #expect(nothing == [])
      for (offset, count) in [(0, size + 1), (1, size), (-1, 1), (size + 1, 0), (size, -1), (.max, .max)] {
        let isOutside = transaction.bytes(at: place, offset: offset, count: count) == nil
        #expect(isOutside)
        transaction.prefetch(at: place, offset: offset, count: count)
      }
    }
  }

  @Test func `a missing, small or uncommitted value has no place, and neither has a value of another environment`()
    throws
  {
    let (environment, table) = (fixture.environment, table)
    let value = [UInt8](repeating: 1, count: 8_176)
    try put([1, 2, 3], 1)
    try put([UInt8](repeating: 3, count: 1_900), 2)
    try put(value, 3)
    #expect(try place(0) == nil)
    #expect(try place(1) == nil)
    #expect(try place(2) == nil)
    let old = try #require(try place(3))
    try environment.withWrite { (transaction) throws(LMDBError) in
      let before = try transaction.place(ofValueForKey: 3, in: table)
      #expect(before == old)
      try transaction.put(value.rawSpan, forKey: 3, in: table)
      try transaction.put(value.rawSpan, forKey: 4, in: table)
      for key: UInt in [3, 4] {
        let isPlaced = try transaction.fixedValue(forKey: key, in: table) != nil
        #expect(!isPlaced)
      }
    }
    #expect(try place(3) != nil)
    let other = try Fixture()
    let otherTable = try other.environment.openIntegerDatabase(named: "table")
    try other.environment.withWrite { (transaction) throws(LMDBError) in
      try transaction.put(value.rawSpan, forKey: 3, in: otherTable)
    }
    let otherPlace = try other.environment.withRead { (transaction) throws(LMDBError) in
      try transaction.place(ofValueForKey: 3, in: otherTable)
    }
    let foreign = try #require(otherPlace)
    try environment.withRead { (transaction) throws(LMDBError) in
      let isRefused = transaction.bytes(at: foreign, offset: 0, count: 1) == nil
      #expect(isRefused)
    }
  }

  @Test func `a damaged header gives no place`() throws {
    try put([UInt8](repeating: 1, count: 8_176), 1)
    let sound = try #require(try place(1))
    let path = fixture.directory.path + "/data.mdb"
    let page = sound.fileOffset - 16
    let descriptor = unsafe open(path, O_WRONLY)
    defer { close(descriptor) }
    // The page number, the kind, and the number of pages.
    for (offset, byte) in [(0, UInt8(sound.page) ^ 1), (7, 0x80), (10, 6), (12, 1)] as [(Int, UInt8)] {
      var damage = byte
      var original = file[page + offset]
      unsafe pwrite(descriptor, &damage, 1, off_t(page + offset))
      #expect(try place(1) == nil)
      unsafe pwrite(descriptor, &original, 1, off_t(page + offset))
      #expect(try place(1) == sound)
    }
  }

  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func `writes in place change the written bytes and nothing else`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let (environment, table) = (fixture.environment, table)
    var model: [UInt: [UInt8]] = [:]
    for key: UInt in 0..<6 {
      let value = [UInt8](repeating: 0, count: Int.random(in: 2_100...40_000, using: &random))
      try put(value, key)
      model[key] = value
    }
    let older = try environment.beginRead()
    for round in 0..<60 {
      let before = file
      let key = UInt.random(in: 0..<6, using: &random)
      let size = model[key]?.count ?? 0
      let offset = Int.random(in: 0...size, using: &random)
      let bytes = (0..<Int.random(in: 0...size - offset, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      try write(bytes, at: offset, key)
      model[key]?.replaceSubrange(offset..<offset + bytes.count, with: bytes)
      let place = try #require(try place(key))
      var expected = before
      expected.replaceSubrange(
        place.fileOffset + offset..<place.fileOffset + offset + bytes.count, with: bytes)
      let isExact = file == expected
      #expect(isExact)
      // Another database changes, so that pages are taken and freed around the values.
      try put([UInt8](repeating: 1, count: Int.random(in: 1...9_000, using: &random)), UInt(100 + round % 7))
    }
    for (key, value) in model {
      let now = try environment.withRead { (transaction) throws(LMDBError) in
        [UInt8](copying: try transaction.value(forKey: key, in: table))
      }
      #expect(now == value)
      let earlier = [UInt8](copying: try older.value(forKey: key, in: table))
      #expect(earlier == value)
    }
    #expect(throws: Never.self) { try DataFileCheck.run(fixture.directory.path + "/data.mdb").get() }
  }

  @Test func `several values are written in one transaction, and an abort does not undo the writes`() throws {
    let (environment, table) = (fixture.environment, table)
    for key: UInt in 1...2 { try put([UInt8](repeating: 0, count: 4_080), key) }
    let (one, two): ([UInt8], [UInt8]) = ([1, 1], [2, 2])
    let failure = code { () throws(LMDBError) in
      try environment.withWrite { (transaction) throws(LMDBError) in
        guard let first = try transaction.fixedValue(forKey: 1, in: table),
          let second = try transaction.fixedValue(forKey: 2, in: table)
        else { throw .missing }
        try first.write(one.rawSpan, at: 0)
        try second.write(two.rawSpan, at: 4_078)
        try first.write(two.rawSpan, at: 2)
        throw LMDBError(.busy, operation: "test", message: "on purpose")
      }
    }
    #expect(failure == .busy)
    try environment.withRead { (transaction) throws(LMDBError) in
      let first = [UInt8](copying: try transaction.value(forKey: 1, in: table))
      #expect(first == [1, 1, 2, 2] + [UInt8](repeating: 0, count: 4_076))
      let second = [UInt8](copying: try transaction.value(forKey: 2, in: table))
      #expect(second == [UInt8](repeating: 0, count: 4_078) + [2, 2])
    }
  }

  @Test func `a write outside of the value ends the process`() async {
    await #expect(processExitsWith: .failure) {
      let fixture = try Fixture()
      let table = try fixture.environment.openIntegerDatabase(named: "table")
      let value = [UInt8](repeating: 0, count: 4_080)
      try fixture.environment.withWrite { (transaction) throws(LMDBError) in
        try transaction.put(value.rawSpan, forKey: 1, in: table)
      }
      try fixture.environment.withWrite { (transaction) throws(LMDBError) in
        try transaction.fixedValue(forKey: 1, in: table)?.write(value.rawSpan, at: 1)
      }
    }
  }

  // MARK: System calls

  /// The writes of a file system that fails, and the result of a complete write to it.
  private func write(
    count: Int, answers: [(count: Int, status: Int32)]
  ) -> (calls: [[Int]], written: [UInt8], error: LMDBError?) {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
    var rest = answers
    var calls: [[Int]] = []
    var written: [UInt8] = []
    var failure: LMDBError?
    do throws(LMDBError) {
      unsafe try bytes.rawSpan.withUnsafeBytes { (bytes) throws(LMDBError) in
        unsafe try writeCompletely(bytes, to: 7, at: 1_000) { descriptor, start, count, offset in
          calls.append([Int(descriptor), count, Int(offset)])
          let answer = rest.isEmpty ? (count: count, status: 0) : rest.removeFirst()
          errno = answer.status
          unsafe written += UnsafeRawBufferPointer(start: start, count: max(0, answer.count))
          return answer.count
        }
      }
    } catch {
      failure = error
    }
    return (calls, written, failure)
  }

  @Test func `a short write continues after its last byte, and an interrupted one is repeated`() {
    let result = write(count: 100, answers: [(30, 0), (-1, EINTR), (69, EIO), (-1, EINTR)])
    #expect(result.error == nil)
    #expect(result.calls == [[7, 100, 1_000], [7, 70, 1_030], [7, 70, 1_030], [7, 1, 1_099], [7, 1, 1_099]])
    #expect(result.written == (0..<100).map { UInt8($0) })
    #expect(write(count: 0, answers: []).calls == [])
  }

  @Test func `a failed write names the error and the place`() {
    for (status, code) in [(ENOSPC, .noSpace), (EIO, .ioError), (EBADF, .other(EBADF))] as [(Int32, LMDBError.Code)] {
      let result = write(count: 100, answers: [(30, 0), (-1, status)])
      #expect(result.error?.code == code)
      #expect(result.error?.operation == "write 70 bytes at the file offset 1030")
      #expect(result.calls.count == 2)
    }
    // No error, and no progress either.
    #expect(write(count: 5, answers: [(0, 0)]).error?.code == .ioError)
  }

  #if os(Linux)
    @Test func `a device without space is reported`() throws {
      let descriptor = unsafe open("/dev/full", O_WRONLY)
      try #require(descriptor >= 0)
      defer { close(descriptor) }
      let bytes: [UInt8] = [1]
      let found = code { () throws(LMDBError) in
        unsafe try bytes.rawSpan.withUnsafeBytes { (bytes) throws(LMDBError) in
          unsafe try writeCompletely(bytes, to: descriptor, at: 0) { unsafe pwrite($0, $1, $2, $3) }
        }
      }
      #expect(found == .noSpace)
    }
  #endif
}

extension LMDBError {
  fileprivate static var missing: LMDBError {
    LMDBError(.databaseNotFound, operation: "test", message: "the value has no place")
  }
}
