import Cistern
import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore

/// Enumerations whose consumer pauses, and during which the store closes or writes more than its limit.
@Suite struct PausedEnumerationTests {
  @Test(arguments: DiskLayout.both)
  func `an enumeration whose store closes delivers each key at most once, and then throws`(
    layout: DiskLayout
  ) async throws {
    let fixture = try EnumerationFixture(layout)
    let keys = Set((0..<3_000).map { "\($0)" })
    for key in keys { fixture.cache[key] = [1] }
    try await fixture.moveToDisk()
    var seen: [String] = []
    let error = await #expect(throws: CisternError.self) {
      for try await key in fixture.cache.keys() {
        seen.append(key)
        if seen.count == 10 { try await fixture.store.close() }
      }
    }
    #expect(error?.code == .storeClosed)
    #expect(seen.count >= 10 && Set(seen).count == seen.count && keys.isSuperset(of: seen))
    var entryCount = 0
    let other = try EnumerationFixture(layout)
    for key in keys { other.cache[key] = [1] }
    try await other.moveToDisk()
    await #expect(throws: CisternError.self) {
      for try await _ in other.cache.entries() {
        entryCount += 1
        if entryCount == 10 { try await other.store.close() }
      }
    }
    #expect(entryCount >= 10)
  }

  /// A read transaction of a slow consumer would pin the pages of all older records, so that the file could not take
  /// new ones.
  @Test(arguments: DiskLayout.both)
  func `a consumer that pauses does not hinder writers of a full file`(layout: DiskLayout) async throws {
    let fixture = try EnumerationFixture(layout)
    let value = [UInt8](repeating: 7, count: 4_000)
    for number in 0..<1_000 { fixture.cache["\(number)"] = value }
    try await fixture.moveToDisk()
    var iterator = fixture.cache.entries().makeAsyncIterator()
    _ = try await iterator.next()
    // More than the disk limit.
    for number in 0..<12_000 { fixture.cache["new \(number)"] = value }
    try await fixture.store.flush()
    #expect(fixture.store.reports.isEmpty)
    while try await iterator.next() != nil {}
  }
}
