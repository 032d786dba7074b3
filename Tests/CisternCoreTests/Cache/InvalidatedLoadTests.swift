import CisternCore
import CisternTesting
import CisternTestSupport
import Testing

/// An invalidation during a load wins over the load.
struct InvalidatedLoadTests {
  enum Invalidation: CaseIterable, Sendable {
    case removal, clear, set, removalAndSet, removalByCondition

    func apply(to cache: Cache<String, Int>) {
      switch self {
      case .removal: cache.removeValue(forKey: "a")
      case .clear: cache.removeAll()
      case .removalByCondition: cache.removeAll(where: { $0 == "a" })
      case .set: cache["a"] = -1
      case .removalAndSet:
        cache["a"] = nil
        cache["a"] = -1
      }
    }

    /// The value of the key afterwards.
    var left: Int? {
      switch self {
      case .removal, .clear, .removalByCondition: nil
      case .set, .removalAndSet: -1
      }
    }
  }

  @Test(arguments: SubjectKind.caches, Invalidation.allCases)
  func `after an invalidation at any instant of a load, no read of either tier returns the load's value`(
    kind: SubjectKind, invalidation: Invalidation
  ) throws {
    try SeededSchedule.explore(seeds: 150) { executor in
      let completes = executor.seed % 3 == 0
      let subject = try Subject(kind, on: executor, completesAbandonedFlights: completes)
      let cache = subject.cache
      let origin = ScriptedOrigin<String, Int> { _, number in .yielding(3, .value(number)) }
      let loads = (0..<3).map { _ in subject.load("a", fetch: origin.fetch) }
      while origin.callCount == 0 { await Task.yield() }
      var generator = SeededGenerator(seed: executor.seed)
      await pause(&generator)
      // Also with a flight that has no waiter.
      if executor.seed % 4 == 0 { for load in loads { load.cancel() } }
      let begun = origin.callCount
      invalidation.apply(to: cache)
      let atOnce = cache["a"]
      try #require(atOnce == invalidation.left)

      // Waiters that came before the invalidation have one consistent outcome. Later loads see the set value, or
      // fetch again.
      let later = subject.load("a", fetch: origin.fetch)
      let outcomes = await Set([outcome(loads[0]), outcome(loads[1]), outcome(loads[2])]).subtracting([.cancelled])
      let end = await outcome(later)
      if let left = invalidation.left {
        try #require(end == .value(left))
        try #require(outcomes.isSubset(of: [.value(1), .value(left)]))
      } else {
        // The later load returns the value of a fetch that began after the invalidation.
        guard case .value(let number) = end else {
          Issue.record("seed \(executor.seed): \(end)")
          return
        }
        try #require(number > begun)
      }
      while origin.runningCount > 0 || subject.inProgressCount > 0 { await Task.yield() }
      let values = subject.valuesFromBothTiers("a").compactMap { $0 }
      for value in values {
        if let left = invalidation.left { try #require(value == left) } else { try #require(value > begun) }
      }
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches, [Invalidation.removal, .clear])
  func `a fetch that finishes after its successor changes nothing, and the successor runs once`(
    kind: SubjectKind, invalidation: Invalidation
  ) throws {
    try SeededSchedule.explore(seeds: 200) { executor in
      let subject = try Subject(kind, on: executor)
      let (first, second) = (Gate(), Gate())
      let origin = ScriptedOrigin<String, Int> { _, number in .value(number) }
      origin.script(.gatedUncancelled(first, .value(1)), .gated(second, .value(2)), for: "a")
      let before = subject.load("a", fetch: origin.fetch)
      await first.arrivals(atLeast: 1)
      invalidation.apply(to: subject.cache)
      let after = (0..<3).map { _ in subject.load("a", fetch: origin.fetch) }
      await second.arrivals(atLeast: 1)
      // The older fetch ends before or after its successor.
      if executor.seed % 2 == 0 {
        second.open()
        for load in after { try #require(try await load.value == 2) }
        first.open()
      } else {
        first.open()
        try #require(try await before.value == 1)
        try #require(subject.cache["a"] == nil)
        second.open()
      }
      for load in after { try #require(try await load.value == 2) }
      try #require(try await before.value == 1)
      try #require(subject.valuesFromBothTiers("a")[0] == 2)
      try #require(origin.callCount == 2)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches, [true, false])
  func `a load that ends without a value after a set keeps the cost of the set value`(
    kind: SubjectKind, isCancelled: Bool
  ) throws {
    try SeededSchedule.explore(seeds: 50) { executor in
      let subject = try Subject(kind, on: executor)
      let gate = Gate()
      let load = subject.load("a") { _ in
        await gate.passUncancelled()
        throw Broken()
      }
      await gate.arrivals(atLeast: 1)
      subject.cache["a"] = 1
      let cost = subject.cache.statistics.memory.cost
      if isCancelled { load.cancel() }
      gate.open()
      _ = await load.result
      for _ in 0..<20 { await Task.yield() }
      try #require(subject.cache.statistics.memory.cost == cost)
      subject.cache.trim(toCost: 0)
      try #require(subject.findings == [])
    }
  }

  @Test func `after a removal, a coalescer starts a new flight`() throws {
    try SeededSchedule.explore(seeds: 300) { executor in
      let subject = try Subject(.coalescer, on: executor)
      let (first, second) = (Gate(), Gate())
      let origin = ScriptedOrigin<String, Int> { _, number in .value(number) }
      origin.script(.gated(first, .value(1)), .gated(second, .value(2)), for: "a")
      let before = subject.load("a", fetch: origin.fetch)
      await first.arrivals(atLeast: 1)
      subject.remove("a")
      let after = subject.load("a", fetch: origin.fetch)
      await second.arrivals(atLeast: 1)
      for gate in executor.seed % 2 == 0 ? [first, second] : [second, first] {
        gate.open()
        await Task.yield()
      }
      try #require(try await before.value == 1)
      try #require(try await after.value == 2)
      try #require(subject.findings == [])
    }
  }
}
