import CisternTestSupport
import Foundation
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Enumerations of a file in which keys are damaged, while the store is open. Its records are values under their keys.
@Suite(.enabled(if: DiskLayout.tested == .ordered)) struct DamagedEnumerationTests {
  /// Replaces bytes wherever the data file has them.
  private func replace(_ old: [UInt8], with new: [UInt8], in scratch: TemporaryDirectory) throws {
    var data = try Data(contentsOf: scratch.dataFile)
    let file = try FileHandle(forUpdating: scratch.dataFile)
    var count = 0
    while let place = data.range(of: Data(old)) {
      try file.seek(toOffset: UInt64(place.lowerBound))
      try file.write(contentsOf: Data(new))
      data.replaceSubrange(place, with: Data(new))
      count += 1
    }
    try file.close()
    #expect(count > 0)
  }

  /// Reads all chunks of a limit. Returns the number of chunks, or nil if the enumeration fails or has too many.
  private func chunkCount(of cache: DiskPartition, limit: Int) throws -> Int? {
    var position: KeyPosition?
    for count in 1...100 {
      do {
        let chunk = try cache.records(in: RecordRange(after: position, limit: limit))
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

  @Test func `An enumeration ends although a key is less than those before it`() async throws {
    var failures = 0
    for damaged in 0..<10 {
      for limit in 1...4 {
        let scratch = TemporaryDirectory()
        let tier = try openTier(scratch)
        let cache = try tier.diskPartition(named: "cache")
        for number in 0..<10 { cache.put("key-\(number)", [1]) }
        try await tier.flush()
        #expect(try chunkCount(of: cache, limit: limit) == 10 / limit + 1)
        try replace(bytes("key-\(damaged)"), with: bytes("ke!-\(damaged)"), in: scratch)
        if try chunkCount(of: cache, limit: limit) == nil { failures += 1 }
        try await tier.close()
      }
    }
    // Most searches do not meet the damaged key.
    #expect(failures > 0)
  }

  @Test func `An enumeration by prefix ends although a key without a digest follows those with one`() async throws {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch)
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
    try replace(last, with: direct, in: scratch)
    let error = #expect(throws: CisternError.self) { _ = try cache.records(in: range).count }
    #expect(error?.code == .diskFailed)
    try await tier.close()
  }
}
