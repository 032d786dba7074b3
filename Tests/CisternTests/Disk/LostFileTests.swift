import Cistern
import CisternTestSupport
import CisternTesting
import Foundation
import Testing

@testable import CisternCore
@testable import CisternDisk

/// A data file that is replaced while the store is open. Observers learn that its records are lost.
@Suite struct LostFileTests {
  /// A cache whose record "disk" is on disk only, and an observer of it.
  private final class Fixture: Sendable {
    let scratch = TemporaryDirectory()
    let failing = Switch<DiskFaults.Fault>()
    let tier: DiskTier
    let store: Store
    let cache: Cache<String, Int>
    let log = ChangeFold()
    let token: ObservationToken

    init() async throws {
      tier = try openTier(scratch, interval: .seconds(3600), faults: DiskFaults { [failing] in failing.take() })
      store = try Store(secondTier: tier, memoryLimit: .mebibytes(1), configuration: .ignoringMemoryPressure)
      cache = try store.cache("values", of: Int.self, keyedBy: String.self)
      token = cache.observe { [log] in log.add($0) }
      cache["disk"] = 1
      try await store.flush()
      cache.trim(toCost: 0)
    }

    func close() async throws {
      token.cancel()
      try await store.close()
    }
  }

  @Test(arguments: [true, false])
  func `observers learn of the records that a replaced data file loses`(isDamaged: Bool) async throws {
    let fixture = try await Fixture()
    let (store, cache, log, failing) = (fixture.store, fixture.cache, fixture.log, fixture.failing)
    cache["both"] = 2
    try await store.flush()
    cache["staged"] = 3
    cache.trim(toCost: 0)
    _ = cache["both"]
    cache["staged in memory"] = 4
    if isDamaged { failing.set(.corrupted) } else { try FileManager.default.removeItem(at: fixture.scratch.dataFile) }
    try await store.flush()
    cache["end"] = 0
    while log.contents["end"] == nil { await Task.yield() }
    #expect(log.clears == 1)
    let left = ["both": 2, "staged": 3, "staged in memory": 4, "end": 0]
    #expect(log.contents == left)
    for key in ["disk", "both", "staged", "staged in memory"] { #expect(cache[key] == left[key]) }
    try await store.flush()
    cache.trim(toCost: 0)
    cache["end"] = 1
    while log.contents["end"] != 1 { await Task.yield() }
    #expect(log.contents == ["staged": 3, "staged in memory": 4, "end": 1])
    for key in ["both", "staged", "staged in memory"] { #expect(cache[key] == log.contents[key]) }
    try await store.flush()
    #expect(cache.checkInvariants() == [])
    #expect(fixture.tier.checkInvariants() == [])
    try await fixture.close()
  }

  @Test func `a file that is opened again without a loss is no loss for observers`() async throws {
    let fixture = try await Fixture()
    let (store, cache, log, failing) = (fixture.store, fixture.cache, fixture.log, fixture.failing)
    cache["end"] = 0
    failing.set(.panic)
    try? await store.flush()
    try await store.flush()
    // Its change comes after those of the opening.
    cache["end"] = 1
    while log.contents["end"] != 1 { await Task.yield() }
    #expect(log.clears == 0 && cache["disk"] == 1)
    try await fixture.close()
  }

  @Test(arguments: SubjectKind.tiered)
  func `changes lead to the contents whatever is in progress when the file is lost`(kind: SubjectKind) throws {
    try SeededSchedule.explore { executor in
      let subject = try Subject(kind, on: executor)
      let (cache, tier) = (subject.cache, subject.tier!)
      let log = ChangeFold()
      let token = cache.observe { [log] in log.add($0) }
      let keys = ["a", "b", "c"]
      for key in keys { cache[key] = 1 }
      try await tier.flush()
      cache.trim(toCost: 0)
      cache["b"] = 2
      await withTaskGroup(of: Void.self) { group in
        for key in keys { group.addTask(executorPreference: executor) { _ = try? await subject.value(key) { _ in 2 } } }
        group.addTask(executorPreference: executor) { _ = cache["c"] }
        group.addTask(executorPreference: executor) { tier.loseFile(of: Subject.partition) }
        group.addTask(executorPreference: executor) { cache.trim(toCost: 0) }
        group.addTask(executorPreference: executor) { cache["d"] = 3 }
        group.addTask(executorPreference: executor) { cache["a"] = nil }
        group.addTask(executorPreference: executor) { tier.commit() }
      }
      cache["end"] = 0
      while log.contents["end"] == nil || log.clears == 0 { await Task.yield() }
      for key in keys + ["d"] { try #require(log.contents[key] == cache[key]) }
      cache.trim(toCost: 0)
      cache["end"] = 1
      while log.contents["end"] != 1 { await Task.yield() }
      for key in keys + ["d"] { try #require(log.contents[key] == cache[key]) }
      try #require(cache.checkInvariants() == [])
      token.cancel()
    }
  }
}
