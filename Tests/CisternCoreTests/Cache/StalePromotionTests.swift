import CisternCore
import CisternTesting
import CisternTestSupport
import Testing

/// A value that was read from disk before a write never replaces the written value. Promotions keep limits and
/// lifetimes.
struct StalePromotionTests {
  enum Interruption: CaseIterable, Sendable {
    case set, removal, clear, setAndRemoval, setAndTrim, load

    func apply(to subject: Subject) {
      switch self {
      case .set: subject.cache["a"] = 2
      case .removal: subject.cache["a"] = nil
      case .clear: subject.cache.removeAll()
      case .setAndRemoval:
        subject.cache["a"] = 2
        subject.cache["a"] = nil
      case .setAndTrim:
        subject.cache["a"] = 2
        subject.cache.trim(toCost: 0)
      case .load: _ = subject.cache["a"]
      }
    }

    /// The value of the key afterwards.
    var left: Int? {
      switch self {
      case .set, .setAndTrim: 2
      case .removal, .clear, .setAndRemoval: nil
      case .load: 1
      }
    }
  }

  /// Returns a subject with `a` only in the second tier. The interruption happens in the middle of the first read.
  private func interruptedSubject(
    _ kind: SubjectKind, _ interruption: Interruption, on executor: SeededExecutor
  ) throws -> Subject {
    let subject = try Subject(kind, on: executor)
    let tier = try #require(subject.tier)
    subject.cache["a"] = 1
    subject.cache.trim(toCost: 0)
    tier.setAfterLoad { _ in
      tier.setAfterLoad(nil)
      interruption.apply(to: subject)
    }
    return subject
  }

  @Test(arguments: SubjectKind.tiered, Interruption.allCases)
  func `a lookup that a write overtakes after its record was read does not bring the older value back`(
    kind: SubjectKind, interruption: Interruption
  ) throws {
    try SeededExecutor.run(seed: 1) { executor in
      let subject = try interruptedSubject(kind, interruption, on: executor)
      let read = subject.cache["a"]
      try #require(read == 1 || read == interruption.left)
      try #require(subject.valuesFromBothTiers("a") == [interruption.left, interruption.left])
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.tiered, Interruption.allCases)
  func `a load that a write overtakes after it read the disk does not bring the older value back`(
    kind: SubjectKind, interruption: Interruption
  ) throws {
    try SeededSchedule.explore(seeds: 20) { executor in
      let subject = try interruptedSubject(kind, interruption, on: executor)
      let loads = (0..<3).map { _ in subject.load("a") { _ in 3 } }
      for load in loads {
        let value = try await load.value
        try #require([1, 2, 3].contains(value))
      }
      let values = subject.valuesFromBothTiers("a")
      // A load may have fetched the removed key again after the removal.
      try #require(values[0] == interruption.left || (interruption.left == nil && values[0] == 3))
      try #require(values[0] == values[1])
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.tiered)
  func `a load that finds nothing on disk and is overtaken by a set does not replace the set value`(
    kind: SubjectKind
  ) throws {
    try SeededSchedule.explore(seeds: 100) { executor in
      let subject = try Subject(kind, on: executor)
      let tier = try #require(subject.tier)
      tier.setAfterLoad { _ in
        tier.setAfterLoad(nil)
        subject.cache["a"] = 2
      }
      let load = subject.load("a") { _ in
        await Task.yield()
        return 3
      }
      _ = try await load.value
      try #require(subject.valuesFromBothTiers("a") == [2, 2])
      try #require(subject.findings == [])
    }
  }

  /// The kind of read.
  enum Reading: CaseIterable, Sendable {
    case lookUp, load, staleLoad, loadBesideRefresh
  }

  @Test(arguments: Reading.allCases, [false, true])
  func `a value that one reader found gone does not come back by another that had read its record before`(
    reading: Reading, isToldAtOnce: Bool
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let tier = FaultInjectingTier(losses: .onDemand, taskExecutor: executor)
      let subject = try Subject(
        .twoTiers, on: executor, expiry: .after(.seconds(60), graceStale: .seconds(60)), tier: tier)
      let cache = subject.cache
      cache["a"] = 1
      cache.trim(toCost: 0)
      if reading == .staleLoad { subject.clock.advance(by: .seconds(61)) }
      let gate = Gate()
      let reload =
        reading == .loadBesideRefresh
        ? subject.load("a", policy: .reload) { _ in
          try await gate.pass()
          throw Broken()
        } : nil
      if reload != nil { await gate.arrivals(atLeast: 1) }
      tier.setAfterLoad { _ in
        tier.setAfterLoad(nil)
        tier.evict("a", from: Subject.partition)
        if isToldAtOnce { tier.deliverLosses() }
        #expect(cache["a"] == nil)
      }
      let refresh: Subject.Fetch = { _ in
        await gate.passUncancelled()
        throw Broken()
      }
      try #require(try await (reading == .lookUp ? cache["a"] : subject.value("a", fetch: refresh)) == 1)
      try #require(cache.value(forKey: "a", staleUpTo: .seconds(60)) == nil)
      tier.deliverLosses()
      try #require(cache.value(forKey: "a", staleUpTo: .seconds(60)) == nil)
      gate.open()
      _ = await reload?.result
      while subject.inProgressCount > 0 { await Task.yield() }
      try #require(try await subject.value("a") { _ in 3 } == 3)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.tiered)
  func `reads from disk in any order with writes end with the last written value`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 300) { executor in
      let subject = try Subject(kind, on: executor)
      let tier = try #require(subject.tier)
      subject.cache["a"] = 0
      let writer = Task(executorPreference: executor) {
        for number in 1...5 {
          subject.cache["a"] = number
          await Task.yield()
        }
      }
      let others = (0..<3).map { index in
        Task(executorPreference: executor) {
          var newest = 0
          for _ in 0..<5 {
            subject.cache.trim(toCost: 0)
            let value = try #require(subject.cache["a"])
            try #require(value >= newest)
            newest = value
            if index == 0 { tier.commit(1) }
            await Task.yield()
          }
        }
      }
      for other in others { try await other.value }
      await writer.value
      try #require(subject.valuesFromBothTiers("a") == [5, 5])
    }
  }

  @Test(arguments: SubjectKind.tiered)
  func `a value that returns from disk keeps its cost and its lifetime`(kind: SubjectKind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(kind, on: executor)
      subject.cache.setValue(1, forKey: "a", expiry: .after(.seconds(10)))
      let cost = subject.cache.statistics.memory.cost
      try #require(cost == 8)
      subject.clock.advance(by: .seconds(6))
      subject.cache.trim(toCost: 0)
      try #require(subject.cache["a"] == 1)
      try #require(subject.cache.statistics.memory.cost == cost)
      subject.clock.advance(by: .seconds(5))
      try #require(subject.cache["a"] == nil)
      try #require(subject.findings == [])
    }
  }

  @Test func `hits on disk never write`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(.twoTiers, on: executor)
      subject.cache["a"] = 1
      let before = try #require(subject.tier).statistics
      for _ in 0..<10_000 {
        subject.cache.trim(toCost: 0)
        _ = subject.cache["a"]
      }
      let after = try #require(subject.tier).statistics
      try #require(after.hits - before.hits == 10_000)
      try #require(after.commits == before.commits)
      try #require(after.stagedCount == 0)
    }
  }
}
