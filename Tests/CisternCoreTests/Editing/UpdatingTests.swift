import CisternCore
import CisternTesting
import CisternTestSupport
import Testing

struct UpdatingTests {
  @Test(arguments: FieldsSubject.Kind.allCases)
  func `no update is lost when updates, sets, evictions and loads of other fields interleave`(
    kind: FieldsSubject.Kind
  ) throws {
    try SeededSchedule.explore(seeds: 200) { executor in
      let subject = try FieldsSubject(kind, on: executor)
      let cache = subject.cache
      let updates = (0..<4).map { number in
        subject.task {
          for _ in 0..<3 {
            if number % 2 == 0 {
              try await cache.updateValue(forKey: "k") { value in
                await Task.yield()
                value = (value ?? [:]).merging(["count": 1], uniquingKeysWith: +)
              }
            } else {
              _ = await Self.inSync {
                cache.updateValue(forKey: "k") { $0 = ($0 ?? [:]).merging(["count": 1], uniquingKeysWith: +) }
              }
            }
            await Task.yield()
          }
        }
      }
      // These writes are merged, so they remove no fields.
      let others = subject.task {
        cache["k"] = ["set": 1]
        await Task.yield()
        if kind != .memory { cache.trim(toCost: 0) }
        subject.tier?.commit(2)
        await Task.yield()
        _ = try await cache.value(forKey: "k") { _ in ["loaded": 1] }
        cache["k"] = ["set": 2]
      }
      for update in updates { try await update.value }
      try await others.value
      for value in subject.valuesFromBothTiers("k") {
        try #require(value?["count"] == 12)
        try #require(value?["set"] == 2)
      }
      try #require(subject.findings == [])
    }
  }

  private static func inSync<Result>(_ body: () -> Result) async -> Result { body() }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `an update concurrent with a set or removal takes effect before or after it`(kind: FieldsSubject.Kind) throws {
    try SeededSchedule.explore(seeds: 200) { executor in
      let subject = try FieldsSubject(kind, on: executor, configuration: CacheConfiguration())
      let cache = subject.cache
      cache["k"] = ["v": 1]
      let removes = executor.seed % 2 == 0
      let update = subject.task {
        try await cache.updateValue(forKey: "k") { value in
          await Task.yield()
          value = value.map { $0.mapValues { $0 + 10 } } ?? ["v": 100]
          await Task.yield()
        }
      }
      let other = subject.task {
        await Task.yield()
        cache["k"] = removes ? nil : ["v": 2]
      }
      try await update.value
      try await other.value
      let end = subject.valuesFromBothTiers("k")
      let allowed: [Fields?] = removes ? [nil, ["v": 100]] : [["v": 2], ["v": 12]]
      try #require(allowed.contains(end[0]) && end[0] == end[1], "\(end)")
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `an update that throws or is cancelled changes nothing, and one that ends with nil removes the key`(
    kind: FieldsSubject.Kind
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(kind, on: executor)
      let cache = subject.cache
      cache["k"] = ["v": 1]
      #expect(throws: Broken.self) {
        try cache.updateValue(forKey: "k") { value in
          value = nil
          throw Broken()
        }
      }
      let gate = Gate()
      let cancelled = subject.task {
        try await cache.updateValue(forKey: "k") { value in
          value = ["v": 2]
          await gate.passUncancelled()
        }
      }
      await gate.arrivals(atLeast: 1)
      cancelled.cancel()
      gate.open()
      await #expect(throws: CancellationError.self) { try await cancelled.value }
      try #require(subject.valuesFromBothTiers("k") == [["v": 1], ["v": 1]])
      let old = cache.updateValue(forKey: "k") { value in
        defer { value = nil }
        return value
      }
      try #require(old == ["v": 1] && subject.valuesFromBothTiers("k") == [nil, nil])
      cache.updateValue(forKey: "k") { $0 = nil }
      try #require(subject.findings == [])
    }
  }

  @Test func `in a merging cache an update replaces the value, and earlier fetches are not stored`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(.twoTiers, on: executor)
      let cache = subject.cache
      let gate = Gate()
      let load = subject.task {
        try await cache.value(forKey: "k") { _ in
          try await gate.pass()
          return ["fetched": 1]
        }
      }
      await gate.arrivals(atLeast: 1)
      cache["k"] = ["set": 1]
      cache.updateValue(forKey: "k") { $0 = ["updated": 1] }
      gate.open()
      _ = try await load.value
      try #require(subject.valuesFromBothTiers("k") == [["updated": 1], ["updated": 1]])
      try #require(subject.findings == [])
    }
  }

  @Test func `a background update returns its stored value or its error`() throws {
    try SeededSchedule.explore(seeds: 50) { executor in
      let subject = try FieldsSubject(.memory, on: executor)
      subject.cache["k"] = ["v": 1]
      let update = subject.cache.updateValueInBackground(forKey: "k") { value in
        await Task.yield()
        value?["w"] = 2
      }
      let stored = try await update.value
      try #require(stored == ["v": 1, "w": 2])
      let failing = subject.cache.updateValueInBackground(forKey: "k") { _ in throw Broken(number: 7) }
      await #expect(throws: Broken(number: 7)) { try await failing.value }
      try #require(subject.cache["k"] == ["v": 1, "w": 2])
      try #require(subject.findings == [])
    }
  }

  @Test func `a cancelled background update stores either its value or nothing`() throws {
    let outcomes = Recorder<Bool>()
    try SeededSchedule.explore(seeds: 200) { executor in
      let subject = try FieldsSubject(.memory, on: executor)
      subject.cache["k"] = ["v": 1]
      let update = subject.cache.updateValueInBackground(forKey: "k") { value in
        await Task.yield()
        value?["w"] = 2
      }
      let cancelling = subject.task { update.cancel() }
      let result = await update.result
      _ = await cancelling.result
      switch result {
      case .success(let stored):
        outcomes.record(true)
        try #require(stored == ["v": 1, "w": 2] && subject.cache["k"] == ["v": 1, "w": 2])
      case .failure(let error):
        outcomes.record(false)
        try #require(error is CancellationError && subject.cache["k"] == ["v": 1])
      }
      try #require(subject.findings == [])
    }
    #expect(Set(outcomes.elements) == [true, false])
  }

  @Test func `a background update that is cancelled during its closure stores nothing`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(.memory, on: executor)
      let gate = Gate()
      let update = subject.cache.updateValueInBackground(forKey: "k") { value in
        await gate.passUncancelled()
        value = ["v": 1]
      }
      await gate.arrivals(atLeast: 1)
      update.cancel()
      gate.open()
      await #expect(throws: CancellationError.self) { try await update.value }
      try #require(subject.cache["k"] == nil)
      try #require(subject.findings == [])
    }
  }

  @available(*, deprecated)
  @Test func `the former form of a background update passes its result to the completion`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(.memory, on: executor)
      let outcomes = Recorder<Result<Fields?, any Error>>()
      subject.cache.updateValueInBackground(forKey: "k") {
        $0 = ["v": 1]
      } completion: {
        outcomes.record($0)
      }
      while outcomes.count < 1 { await Task.yield() }
      try #require(try outcomes.elements[0].get() == ["v": 1])
      subject.cache.updateValueInBackground(forKey: "k") { _ in
        throw Broken(number: 7)
      } completion: {
        outcomes.record($0)
      }
      while outcomes.count < 2 { await Task.yield() }
      #expect(throws: Broken(number: 7)) { try outcomes.elements[1].get() }
    }
  }

  @Test func `a committing update either survives a crash or throws`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(.staging, on: executor)
      let commit = subject.task { try await subject.cache.commitUpdate(forKey: "k") { $0 = ["v": 1] } }
      while subject.cache["k"] == nil { await Task.yield() }
      subject.tier?.commit()
      try await commit.value
      let again = try FieldsSubject(.staging, on: executor, tier: subject.tier?.reopenedAfterCrash())
      try #require(again.cache["k"] == ["v": 1])
      let failing = subject.task { try await subject.cache.commitUpdate(forKey: "k") { $0 = ["v": 2] } }
      while subject.cache["k"] != ["v": 2] { await Task.yield() }
      subject.tier?.failCommits()
      subject.tier?.commit()
      await #expect(throws: CisternError.self) { try await failing.value }
    }
  }
}
