import CisternCore
import CisternTesting
import CisternTestSupport
import Locking
import Testing

struct BatchTests {
  private typealias Kind = FieldsSubject.Kind

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `a batch is one change set for observers of sets, and single changes for other observers`(
    kind: FieldsSubject.Kind
  ) throws {
    try SeededSchedule.explore(seeds: 30) { executor in
      let subject = try FieldsSubject(kind, on: executor, configuration: CacheConfiguration())
      let cache = subject.cache
      cache["old"] = ["v": 1]
      cache["gone"] = ["v": 1]
      if kind != .memory, executor.seed % 2 == 0 { cache.trim(toCost: 0) }
      let (sets, some) = (Recorder<ChangeSet<String, Fields>>(), Recorder<ChangeSet<String, Fields>>())
      let singles = Recorder<Change<String, Fields>>()
      let tokens = Observations()
      cache.observeChangeSets { sets.record($0) }.store(in: tokens)
      cache.observeChangeSets(.keys(["new", "other"])) { some.record($0) }.store(in: tokens)
      cache.observe(.keys(["old", "gone"])) { singles.record($0) }.store(in: tokens)
      let sequence = cache.changeSets(.prefix("o"), keeping: 5)
      let me = WriterContext()
      try cache.batch(context: me) { batch in
        batch.setValue(["v": 0], forKey: "new")
        batch.setValue(["v": 2], forKey: "new")
        batch.setValue(["v": 2], forKey: "old")
        batch.removeValue(forKey: "gone")
        batch.removeValue(forKey: "never there")
        try #require(batch.count == 4)
      }
      cache["single"] = ["v": 3]
      cache.removeAll()
      while sets.count < 3 || singles.count < 3 || some.count < 2 { await Task.yield() }
      let set = sets.elements[0]
      try #require(set.inserted == ["new": ["v": 2]] && set.updated == ["old": ["v": 2]])
      try #require(set.removed == ["gone": .explicit] && set.context == me && !set.isCleared)
      try #require(set.changes.map(\.number) == set.changes.map(\.number).sorted())
      try #require(sets.elements[1].inserted == ["single": ["v": 3]] && sets.elements[2].isCleared)
      try #require(some.elements[0].inserted == ["new": ["v": 2]] && some.elements[0].updated.isEmpty)
      try #require(some.elements[1].isCleared && some.count == 2)
      try #require(singles.elements.map(\.key) == ["old", "gone", nil] && singles.elements[0].context == me)
      var iterator = sequence.makeAsyncIterator()
      try #require(await iterator.next()?.updated == ["old": ["v": 2]])
      try #require(await iterator.next()?.isCleared == true)
      try #require(subject.findings == [])
      tokens.cancelAll()
    }
  }

  @Test func `after a crash a batch is present either completely or not at all`() throws {
    for commits in 0..<12 {
      try SeededExecutor.run(seed: 0) { executor in
        let subject = try FieldsSubject(.staging, on: executor, configuration: CacheConfiguration())
        subject.cache["a"] = ["v": 0]
        subject.cache["b"] = ["v": 0]
        try subject.cache.batch { batch in
          batch.setValue(["v": 1], forKey: "a")
          batch.removeValue(forKey: "b")
          for number in 0..<5 { batch.setValue(["v": 1], forKey: "\(number)") }
        }
        try #require(subject.cache["a"] == ["v": 1] && subject.cache["b"] == nil)
        subject.tier?.commit(commits)
        let again = try FieldsSubject(.staging, on: executor, tier: subject.tier?.reopenedAfterCrash()).cache
        let isThere = again["0"] != nil
        for number in 0..<5 { try #require((again["\(number)"] != nil) == isThere) }
        if isThere { try #require(again["a"] == ["v": 1] && again["b"] == nil) }
        if !isThere { try #require(again["a"] == (commits == 0 ? nil : ["v": 0])) }
      }
    }
  }

  @Test func `a batch is on disk when its commit returns`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(.staging, on: executor)
      let commit = subject.task {
        try await subject.cache.commitBatch { batch in
          batch.setValue(["v": 1], forKey: "a")
          batch.setValue(["v": 1], forKey: "b")
          return batch.count
        }
      }
      while subject.cache["a"] == nil { await Task.yield() }
      subject.tier?.commit()
      try #require(try await commit.value == 2)
      let again = try FieldsSubject(.staging, on: executor, tier: subject.tier?.reopenedAfterCrash()).cache
      try #require(again["a"] == ["v": 1] && again["b"] == ["v": 1])
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `a batch that throws stores nothing`(kind: FieldsSubject.Kind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(kind, on: executor)
      let cache = subject.cache
      cache["a"] = ["v": 1]
      #expect(throws: Broken.self) {
        try cache.batch { batch in
          batch.removeValue(forKey: "a")
          throw Broken()
        }
      }
      let error = #expect(throws: CisternError.self) {
        try cache.batch { batch in
          batch.setValue(["w": 1], forKey: "b")
          batch.setValue(unmergeable, forKey: "a")
        }
      }
      try #require(error?.code == .notMerged)
      try #require(subject.valuesFromBothTiers("a") == [["v": 1], ["v": 1]] && cache["b"] == nil)
      try cache.batch { _ in }
      try #require(subject.findings == [])
    }
  }

  private struct Stubborn: Codable, Sendable {
    var isStubborn: Bool
    func encode(to encoder: any Encoder) throws { if isStubborn { throw Broken() } }
  }

  @Test func `a batch that cannot be encoded or is too large throws and stores nothing`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      var settings: Store.Configuration = .ignoringMemoryPressure
      settings.taskExecutor = executor
      let tier = FaultInjectingTier(commits: .immediate, taskExecutor: executor)
      let store = try Store(secondTier: tier, memoryLimit: .bytes(100), configuration: settings)
      let stubborn = try store.cache("stubborn", of: Stubborn.self, keyedBy: String.self)
      let first = #expect(throws: CisternError.self) {
        try stubborn.batch { batch in
          batch.setValue(Stubborn(isStubborn: false), forKey: "a")
          batch.setValue(Stubborn(isStubborn: true), forKey: "b")
        }
      }
      try #require(first?.code == .notEncodable && stubborn["a"] == nil && stubborn["b"] == nil)

      let numbers = try store.cache("numbers", of: Int.self, keyedBy: Int.self)
      tier.setBatchLimit(10)
      let second = #expect(throws: CisternError.self) {
        try numbers.batch { batch in for number in 0..<11 { batch.setValue(number, forKey: number) } }
      }
      try #require(second?.code == .tooLarge && (0..<11).allSatisfy { numbers[$0] == nil })

      // A batch that exceeds the memory limit is stored on disk, and only there.
      tier.setBatchLimit(nil)
      try numbers.batch { batch in for number in 0..<100 { batch.setValue(number, forKey: number) } }
      try #require(store.statistics.memory.cost <= 100)
      try #require((0..<100).allSatisfy { numbers[$0] == $0 })
      try #require(numbers.checkInvariants() == [])

      let memory = try Cache<Int, Int>(costLimit: 10)
      memory[-1] = -1
      let third = #expect(throws: CisternError.self) {
        try memory.batch { batch in for number in 0..<11 { batch.setValue(number, forKey: number) } }
      }
      try #require(third?.code == .tooLarge && memory[-1] == -1 && memory.checkInvariants() == [])
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `concurrent merging batches, updates and loads lose no field`(kind: FieldsSubject.Kind) throws {
    try SeededSchedule.explore(seeds: 150) { executor in
      let subject = try FieldsSubject(kind, on: executor)
      let cache = subject.cache
      let tasks = (0..<3).map { number in
        subject.task {
          await Task.yield()
          try cache.batch { batch in
            batch.setValue(["batch\(number)": 1], forKey: "a")
            batch.setValue(["batch\(number)": 1], forKey: "b")
          }
          await Task.yield()
          try await cache.updateValue(forKey: "a") { value in
            await Task.yield()
            value?["update\(number)"] = 1
          }
        }
      }
      let load = subject.task {
        try await cache.values(forKeys: ["a", "b"]) { keys in
          await Task.yield()
          return Dictionary(uniqueKeysWithValues: keys.map { ($0, ["loaded": 1]) })
        }
      }
      for task in tasks { try await task.value }
      _ = try await load.value
      for number in 0..<3 {
        try #require(cache["a"]?["batch\(number)"] == 1 && cache["b"]?["batch\(number)"] == 1)
        try #require(cache["a"]?["update\(number)"] == 1)
      }
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `a value written while a batch merges is merged as well`(kind: FieldsSubject.Kind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let meanwhile = Guarded<(@Sendable () -> Void)?>(nil)
      let configuration = CacheConfiguration<Fields>(merge: { cached, incoming in
        meanwhile.withLock { $0.take() }?()
        return try mergeFields(cached, incoming)
      })
      let subject = try FieldsSubject(kind, on: executor, configuration: configuration)
      let cache = subject.cache
      cache["a"] = ["old": 1]
      cache["b"] = ["old": 1]
      meanwhile.withLock { $0 = { cache["a"] = ["between": 1] } }
      try cache.batch { batch in
        batch.setValue(["batch": 1], forKey: "a")
        batch.setValue(["batch": 1], forKey: "b")
      }
      try #require(meanwhile.withLock { $0 == nil })
      let both: Fields = ["old": 1, "between": 1, "batch": 1]
      try #require(subject.valuesFromBothTiers("a") == [both, both] && cache["b"] == ["old": 1, "batch": 1])
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `the stores and removals of a batch are counted`(kind: FieldsSubject.Kind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let cache = try FieldsSubject(kind, on: executor).cache
      cache["a"] = ["v": 1]
      cache["gone"] = ["v": 1]
      let before = cache.statistics
      try cache.batch { batch in
        batch.setValue(["v": 2], forKey: "a")
        batch.setValue(["v": 2], forKey: "new")
        batch.removeValue(forKey: "gone")
        batch.removeValue(forKey: "never there")
      }
      try #require(cache.statistics.stores - before.stores == 2 && cache.statistics.removals - before.removals == 1)
    }
  }

  @Test(arguments: SubjectKind.caches, [10_000, 60])
  func `random batches have the same result as single writes to a dictionary`(kind: SubjectKind, memoryLimit: Int)
    throws
  {
    try SeededSchedule.explore(seeds: 180) { executor in
      let subject = try Subject(kind, on: executor, memoryLimit: memoryLimit)
      let audit = ChangeAudit()
      let token = subject.cache.observe { audit.take($0) }
      var model: [String: Int] = [:]
      var generator = SeededGenerator(seed: executor.seed)
      for step in 0..<20 {
        var expected = model
        do {
          try subject.cache.batch { batch in
            for write in 0..<generator.next(below: 12) {
              let key = "key \(generator.next(below: 15))"
              if generator.next(below: 4) == 0 {
                batch.removeValue(forKey: key)
                expected[key] = nil
              } else {
                batch.setValue(step * 100 + write, forKey: key)
                expected[key] = step * 100 + write
              }
            }
            if generator.next(below: 5) == 0 { throw Broken() }
          }
          model = expected
        } catch is Broken {
        } catch let error as CisternError {
          try #require(error.code == .tooLarge && kind == .memory)
        }
        if generator.next(below: 3) == 0 { subject.tier?.commit(generator.next(below: 5)) }
        let mayForget = kind == .memory && memoryLimit < 100
        for key in 0..<15 {
          let value = subject.cache["key \(key)"]
          try #require(value == model["key \(key)"] || (mayForget && value == nil))
        }
        try #require(subject.cache.statistics.memory.cost <= memoryLimit && subject.findings == [])
      }
      for _ in 0..<300 { await Task.yield() }
      try #require(audit.findings == [])
      token.cancel()
    }
  }
}
