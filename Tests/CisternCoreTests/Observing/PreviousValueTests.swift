import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore

/// The previous value of each kind of change.
struct PreviousValueTests {
  /// A cache, and the changes of its keys as text.
  private struct Observed: Sendable {
    let subject: Subject
    let changes = Recorder<String>()
    private let observations = Observations()

    init(
      _ kind: SubjectKind, on executor: SeededExecutor, expiry: Expiry = .never,
      settings: CacheConfiguration<Int> = CacheConfiguration()
    ) throws {
      subject = try Subject(kind, on: executor, expiry: expiry, settings: settings)
      subject.cache.observe { [changes] change in
        let previous =
          switch change.previous {
          case .value(let value): "\(value)"
          case .none: "none"
          case .unknown: "unknown"
          }
        switch change.event {
        case .inserted(let key, let value): changes.record("+\(key)=\(value) from \(previous)")
        case .updated(let key, let value): changes.record("\(key)=\(value) from \(previous)")
        case .removed(let key, let cause): changes.record("-\(key) \(cause) from \(previous)")
        case .cleared: changes.record("cleared from \(previous)")
        case .invalidated: changes.record("invalidated from \(previous)")
        }
      }.store(in: observations)
    }

    var cache: Cache<String, Int> { subject.cache }

    func newest() async -> [String] {
      for _ in 0..<40 { await Task.yield() }
      return changes.removeAll()
    }

    /// Leaves the values of memory to the second tier.
    func moveToTier() {
      subject.tier?.commit()
      cache.trim(toCost: 0)
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `a change has the value that it replaces, and one of many keys has none`(kind: SubjectKind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let observed = try Observed(kind, on: executor)
      let cache = observed.cache
      cache["a"] = 1
      cache["a"] = 2
      cache["a"] = nil
      try #require(await observed.newest() == ["+a=1 from none", "a=2 from 1", "-a explicit from 2"])
      cache["a"] = 3
      cache.removeAll(withPrefix: "a")
      cache["a"] = 4
      cache.removeAll()
      cache["a"] = 5
      try #require(
        await observed.newest() == [
          "+a=3 from none", "invalidated from unknown", "+a=4 from none", "cleared from unknown", "+a=5 from none",
        ])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `a set of an expired value is a removal and an insertion`(kind: SubjectKind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let observed = try Observed(kind, on: executor, expiry: .after(.seconds(1)))
      let cache = observed.cache
      cache["a"] = 1
      observed.subject.clock.advance(by: .seconds(1))
      cache["a"] = 2
      observed.subject.clock.advance(by: .seconds(1))
      _ = cache["a"]
      try #require(
        await observed.newest() == ["+a=1 from none", "-a expired from 1", "+a=2 from none", "-a expired from 2"])
      if kind == .memory { return }
      cache["a"] = 3
      observed.moveToTier()
      observed.subject.clock.advance(by: .seconds(1))
      cache["a"] = 4
      try #require(await observed.newest() == ["+a=3 from none", "-a expired from unknown", "+a=4 from none"])
    }
  }

  @Test(arguments: SubjectKind.tiered)
  func `a value that only the second tier holds is unknown`(kind: SubjectKind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let observed = try Observed(kind, on: executor)
      let cache = observed.cache
      for key in ["a", "b", "c", "d"] { cache[key] = 1 }
      observed.moveToTier()
      _ = await observed.newest()
      cache["a"] = 2
      cache["b"] = nil
      try cache.batch {
        $0.setValue(2, forKey: "c")
        $0.removeValue(forKey: "d")
        $0.setValue(2, forKey: "e")
      }
      let changes = await observed.newest()
      try #require(changes.prefix(2) == ["a=2 from unknown", "-b explicit from unknown"])
      try #require(
        Set(changes.dropFirst(2)) == ["c=2 from unknown", "-d explicit from unknown", "+e=2 from none"])
      observed.moveToTier()
      observed.subject.tier?.evict("a", from: Subject.partition)
      try #require(await observed.newest() == ["-a evicted from unknown"])
      _ = cache["c"]
      cache["c"] = 3
      try #require(await observed.newest() == ["c=3 from 2"])
    }
  }

  @Test func `an eviction of the last copy has its value`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let observed = try Observed(.memory, on: executor)
      observed.cache["a"] = 1
      observed.cache.trim(toCost: 0)
      try #require(await observed.newest() == ["+a=1 from none", "-a evicted from 1"])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `batches, drafts, updates and edits have the shown value before`(kind: SubjectKind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let observed = try Observed(kind, on: executor)
      let cache = observed.cache
      try cache.batch {
        $0.setValue(1, forKey: "a")
        $0.setValue(2, forKey: "a")
        $0.setValue(1, forKey: "b")
      }
      let draft = cache.draft()
      draft["a"] = 3
      draft["b"] = nil
      try draft.save()
      cache.updateValue(forKey: "a") { $0 = 4 }
      try #require(
        Set(await observed.newest()) == [
          "+a=2 from none", "+b=1 from none", "a=3 from 2", "-b explicit from 1", "a=4 from 3",
        ])
      do {
        try await cache.editValue(forKey: "a") {
          $0.map { $0 + 10 }
        } confirmedBy: {
          cache["a"] = 5
          throw Broken()
        }
      } catch is Broken {}
      try #require(await observed.newest() == ["a=14 from 4", "a=15 from 14", "a=5 from 15"])
      do {
        try await cache.editValue(forKey: "a") { _ in
          6
        } confirmedBy: {
          // Memory loses the shown value, and the edit keeps it.
          cache.trim(toCost: 0)
          throw Broken()
        }
      } catch is Broken {}
      let changes = await observed.newest()
      try #require(changes.first == "a=6 from 5" && changes.contains { $0.hasSuffix("from 6") })
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `loads, kept values, equal values and merged values agree`(kind: SubjectKind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      var settings = CacheConfiguration<Int>()
      settings.isEqual = { $0 == $1 }
      let expiry = Expiry.after(.seconds(1), graceStale: .seconds(100))
      let observed = try Observed(kind, on: executor, expiry: expiry, settings: settings)
      _ = try await observed.subject.value("a") { _ in 1 }
      observed.subject.clock.advance(by: .seconds(2))
      _ = try await observed.subject.value("a", policy: .reload) { _ in 2 }
      observed.cache["a"] = 2
      observed.cache["a"] = 3
      try #require(await observed.newest() == ["+a=1 from none", "a=2 from 1", "a=3 from 2"])
      _ = try await observed.cache.load("a", policy: .reload) { _ in .keepStored() }
      observed.cache["a"] = 4
      try #require(await observed.newest() == ["a=4 from 3"])

      settings.merge = { cached, incoming in cached + incoming }
      let merging = try Observed(kind, on: executor, settings: settings)
      merging.cache["a"] = 1
      merging.cache["a"] = 2
      merging.cache["a"] = 0
      try #require(await merging.newest() == ["+a=1 from none", "a=3 from 1"])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `merged changes of a slow consumer add up`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 200) { executor in
      let subject = try Subject(kind, on: executor)
      let cache = subject.cache
      let updates = cache.updates()
      let writer = Task(executorPreference: executor) {
        var generator = SeededGenerator(seed: executor.seed)
        for number in 1...40 {
          let key = "\(generator.next(below: 3))"
          switch generator.next(below: 6) {
          case 0: cache[key] = nil
          case 1: if generator.next(below: 4) == 0 { cache.removeAll() }
          case 2: if generator.next(below: 4) == 0 { cache.removeAll(withPrefix: "1") }
          case 3: cache.trim(toCost: 8)
          default: cache[key] = number
          }
          await pause(&generator, atMost: 2)
        }
        cache["end"] = 1
      }
      var values: [String: Int] = [:]
      for await change in updates {
        if let key = change.key {
          switch change.previous {
          case .value(let value): try #require(values[key] == value)
          case .none: try #require(values[key] == nil)
          case .unknown: break
          }
          values[key] = change.value
          if key == "end" { break }
        } else if case .invalidated = change.event {
          values["1"] = nil
        } else {
          values = [:]
        }
        for _ in 0..<(executor.seed % 5) { await Task.yield() }
      }
      await writer.value
    }
  }
}
