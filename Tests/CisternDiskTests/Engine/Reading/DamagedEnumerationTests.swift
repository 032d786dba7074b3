import CisternTestSupport
import LMDB
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Enumerations of a file in which keys or items are damaged, while the store is open.
@Suite struct DamagedEnumerationTests {
  /// Reads all chunks of a limit. Returns the number of chunks, or nil if the enumeration fails or has too many. Each
  /// key must come once at most.
  private func chunkCount(of cache: DiskPartition, limit: Int) throws -> Int? {
    var position: KeyPosition?
    var keys: Set<[UInt8]> = []
    for count in 1...100 {
      do {
        let chunk = try cache.records(in: RecordRange(after: position, limit: limit))
        for record in chunk.records {
          let key = chunk.withKey(of: record) { $0.copiedBytes() }
          if !keys.insert(key).inserted { Issue.record("the key \(key) comes twice, in chunks of \(limit)") }
        }
        guard let end = chunk.end else { return count }
        if let position, end <= position { Issue.record("the chunk of \(limit) after \(position) ends at \(end)") }
        position = end
      } catch {
        #expect(error.code == .diskFailed)
        return nil
      }
    }
    Issue.record("the enumeration in chunks of \(limit) has no end")
    return nil
  }

  /// Damages each of ten keys in turn, and counts the enumerations that fail.
  ///
  /// - Parameters:
  ///   - layout: The layout of the file.
  ///   - damage: Returns the bytes of a key or item in the file, and those that replace them.
  /// - Returns: The number of enumerations that fail.
  /// - Throws: The error of a store that does not open.
  private func failures(
    in layout: DiskLayout, _ damage: (DiskTier, Int) throws -> (old: [UInt8], new: [UInt8])
  ) async throws -> Int {
    var failures = 0
    for damaged in 0..<10 {
      for limit in 1...4 {
        let scratch = TemporaryDirectory()
        let tier = try openTier(scratch, layout: layout)
        let cache = try tier.diskPartition(named: "cache")
        for number in 0..<10 { cache.put("key-\(number)", [1]) }
        try await tier.flush()
        // A chunk of a dense file knows that no record follows.
        #expect(try chunkCount(of: cache, limit: limit) == (layout == .dense ? (9 + limit) / limit : 10 / limit + 1))
        let (old, new) = try damage(tier, damaged)
        try scratch.replaceInDataFile(old, with: new)
        if try chunkCount(of: cache, limit: limit) == nil { failures += 1 }
        try await tier.close()
      }
    }
    return failures
  }

  @Test func `an enumeration ends although a key is less than those before it`() async throws {
    let count = try await failures(in: .ordered) { _, damaged in
      (bytes("key-\(damaged)"), bytes("ke!-\(damaged)"))
    }
    // Some searches do not meet the damaged key.
    #expect(count > 0)
  }

  @Test(arguments: [0x00, 0xFF] as [UInt8])
  func `an enumeration of a dense file ends although a digest has another place in the order`(byte: UInt8) async throws
  {
    let count = try await failures(in: .dense) { tier, damaged in
      let item = try tier.indexItem(ofKey: "key-\(damaged)")
      return (item, [byte] + item.dropFirst())
    }
    #expect(count > 0)
  }

  @Test func `an enumeration of a dense file returns no record twice although an item comes twice`() async throws {
    let count = try await failures(in: .dense) { tier, damaged in
      let order = try (0..<10).map { try tier.indexItem(ofKey: "key-\($0)") }.sorted { $0.rawSpan.precedes($1.rawSpan) }
      return (order[damaged], order[damaged == 0 ? 1 : damaged - 1])
    }
    #expect(count == 40)
  }

  @Test func `an enumeration by prefix ends although a key without a digest follows those with one`() async throws {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch, layout: .ordered)
    let cache = try tier.diskPartition(named: "cache")
    let long = (0..<3).map { bytes("\($0)") + [UInt8](repeating: 9, count: 80) }
    for key in [bytes("a"), bytes("b")] + long { cache.put(key, [1]) }
    try await tier.flush()
    let range = RecordRange(after: nil, prefix: bytes("a"), limit: 100)
    #expect(try cache.records(in: range).count == 1)
    let digests = long.map { DiskKey(generation: .first, key: $0.rawSpan).copiedBytes() }
    let last = try #require(digests.max { $0.rawSpan.precedes($1.rawSpan) })
    var direct = last
    direct[DiskKey.prefixSize - 1] &= ~1
    try scratch.replaceInDataFile(last, with: direct)
    let error = #expect(throws: CisternError.self) { _ = try cache.records(in: range).count }
    #expect(error?.code == .diskFailed)
    try await tier.close()
  }
}
