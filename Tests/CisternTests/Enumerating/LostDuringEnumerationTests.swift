import Cistern
import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore

/// Records that the second tier loses during an enumeration, while memory holds their values.
@Suite struct LostDuringEnumerationTests {
  private static let keys = (0..<12).map { "k\($0 < 10 ? "0" : "")\($0)" }

  /// A cache with all keys in the second tier only.
  private static func subject(on executor: SeededExecutor) async throws -> (Cache<String, Int>, FaultInjectingTier) {
    let tier = FaultInjectingTier(losses: .onDemand, taskExecutor: executor)
    let subject = try Subject(.twoTiers, on: executor, tier: tier)
    for (number, key) in keys.enumerated() { subject.cache[key] = number }
    subject.cache.trim(toCost: 0)
    return (subject.cache, tier)
  }

  private static func remainingKeys(_ walk: inout EntryWalk<String, Int>) throws -> [String] {
    var keys: [String] = []
    while !walk.isAtEnd { keys += try walk.nextEntries(limit: 3).map(\.key) }
    return keys
  }

  @Test(arguments: [false, true])
  func `a key that was promoted and then evicted from disk appears once`(isReported: Bool) throws {
    try SeededSchedule.explore(seeds: 1) { executor in
      let (cache, tier) = try await Self.subject(on: executor)
      var walk = try EntryWalk(cache, .all, after: nil)
      let first = try walk.nextEntries(limit: 3).map(\.key)
      for key in ["k01", "k05", "k11"] {
        _ = cache[key]
        tier.evict(key, from: Subject.partition)
      }
      if isReported { tier.deliverLosses() }
      var copy = walk
      try #require(try first + Self.remainingKeys(&walk) == Self.keys)
      if !isReported { tier.deliverLosses() }
      try #require(try first + Self.remainingKeys(&copy) == Self.keys)
    }
  }

  @Test(arguments: [1, OpenWalks.longestList + 10])
  func `a promoted key appears once although the tier loses all records, or more than are listed`(count: Int) throws {
    try SeededSchedule.explore(seeds: 1) { executor in
      let (cache, tier) = try await Self.subject(on: executor)
      var walk = try EntryWalk(cache, .all, after: nil)
      let first = try walk.nextEntries(limit: 3).map(\.key)
      for key in Self.keys { _ = cache[key] }
      if count == 1 {
        tier.requireRemovalOfAll(in: Subject.partition)
        cache["k00"] = 7
      } else {
        for key in Self.keys { tier.evict(key, from: Subject.partition) }
        tier.deliverLosses()
        for number in 0..<count { cache.table.walks.noteLoss(of: bytes("\(number)")) }
      }
      try #require(try first + Self.remainingKeys(&walk) == Self.keys)
    }
  }

  @Test(arguments: [false, true])
  func `a removal by predicate removes a key that was promoted and then evicted from disk`(isReported: Bool) throws {
    try SeededSchedule.explore(seeds: 1) { executor in
      let (cache, tier) = try await Self.subject(on: executor)
      tier.setBeforeListing {
        _ = cache["k05"]
        tier.evict("k05", from: Subject.partition)
        if isReported { tier.deliverLosses() }
      }
      try #require(cache.removeAll(where: { _ in true }) == Self.keys.count)
      try #require(cache["k05"] == nil && cache.table.walks.isEmpty)
    }
  }

  @Test func `an edit that removes its key is no loss if the tier has lost no record`() throws {
    try SeededSchedule.explore(seeds: 1) { executor in
      let (cache, _) = try await Self.subject(on: executor)
      let changes = Recorder<String>()
      let token = cache.observe { changes.record("\($0.event)") }
      defer { token.cancel() }
      let walk = try EntryWalk(cache, .all, after: nil)
      _ = await Task(executorPreference: executor) {
        try await cache.editValue(forKey: "edited") { _ in
          1
        } confirmedBy: {
          throw Broken()
        }
      }.result
      while changes.count < 2 { await Task.yield() }
      try #require(changes.elements.last == "removed(\"edited\", CisternCore.RemovalCause.explicit)")
      try #require(walk.token.losses.keys.isEmpty && walk.token.losses.lossesOfAll == 0)
    }
  }

  @Test func `a cache keeps no list of losses after its enumerations have ended`() throws {
    try SeededSchedule.explore(seeds: 1) { executor in
      let (cache, _) = try await Self.subject(on: executor)
      do {
        let walk = try EntryWalk(cache, .all, after: nil)
        try #require(!cache.table.walks.isEmpty)
        withExtendedLifetime(walk) {}
      }
      _ = try await cache.allKeys()
      try #require(cache.table.walks.isEmpty)
    }
  }

  @Test func `contents deliver each key once while records are promoted and evicted`() throws {
    try SeededSchedule.explore { executor in
      let (cache, tier) = try await Self.subject(on: executor)
      var updates = cache.contentUpdates()
      updates.groupSize = 2
      updates.chunkSize = 3
      let reading = Task(executorPreference: executor) { [updates] in
        var found: [String: Int] = [:]
        var count = 0
        for await update in updates {
          if case .initialEnded = update { break }
          if case .initial = update { count += 1 }
          update.apply(to: &found)
        }
        return (found, count)
      }
      await withTaskGroup(of: Void.self) { group in
        for key in Self.keys.reversed() {
          group.addTask(executorPreference: executor) {
            _ = cache[key]
            await Task.yield()
            tier.evict(key, from: Subject.partition)
            await Task.yield()
            tier.deliverLosses()
          }
        }
      }
      let (found, count) = await reading.value
      try #require(found == Dictionary(uniqueKeysWithValues: Self.keys.enumerated().map { ($1, $0) }))
      try #require(count == Self.keys.count)
    }
  }
}
