import CisternCore
import CisternTesting
import CisternTestSupport
import Locking
import Testing

/// Batches over several caches of a store.
struct StoreBatchTests {
  @Test(arguments: TwoCaches.commits)
  func `a batch over several caches is one change set in each of them`(
    commits: FaultInjectingTier.CommitMode?
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      try await Self.observe(try TwoCaches(commits, on: executor))
    }
  }

  private nonisolated(nonsending) static func observe(_ caches: TwoCaches) async throws {
    let fields = caches.fields
    let numbers = caches.numbers
    fields["gone"] = ["v": 1]
    numbers[2] = 1
    if caches.tier != nil { fields.trim(toCost: 0) }
    let ofFields = Recorder<ChangeSet<String, Fields>>()
    let ofNumbers = Recorder<ChangeSet<Int, Int>>()
    let tokens = Observations()
    fields.observeChangeSets { ofFields.record($0) }.store(in: tokens)
    numbers.observeChangeSets { ofNumbers.record($0) }.store(in: tokens)
    let me = WriterContext()
    try write(to: caches, as: me)
    try #require(fields["new"] == ["v": 2] && fields["gone"] == nil && numbers[1] == 2 && numbers[2] == 2)
    while ofFields.count < 1 { await Task.yield() }
    while ofNumbers.count < 1 { await Task.yield() }
    try #require(ofFields.elements[0].inserted == ["new": ["v": 2]] && ofFields.elements[0].context == me)
    try #require(ofFields.elements[0].removed == ["gone": .explicit])
    try #require(ofNumbers.elements[0].inserted == [1: 2] && ofNumbers.elements[0].updated == [2: 2])
    try #require(ofFields.count == 1 && ofNumbers.count == 1)
    caches.store.removeAll(tagged: "news")
    try #require(fields["new"] == nil && numbers[1] == 2)
    try #require(caches.findings == [])
    tokens.cancelAll()
  }

  private static func write(to caches: TwoCaches, as me: WriterContext) throws {
    let (fields, numbers) = (caches.fields, caches.numbers)
    let count = try caches.store.batch(context: me) { batch in
      batch.setValue(0, forKey: 1, in: numbers)
      batch.setValue(["v": 2], forKey: "new", in: fields, tags: ["news"])
      batch.setValue(2, forKey: 1, in: numbers)
      batch.setValue(2, forKey: 2, in: numbers)
      batch.removeValue(forKey: "gone", in: fields)
      return batch.count
    }
    try #require(count == 4)
    try caches.store.batch { _ in }
  }

  @Test func `after a crash a batch over several caches is present completely or not at all`() throws {
    for commits in 0..<10 {
      try SeededExecutor.run(seed: 0) { executor in
        let tier = FaultInjectingTier(commits: .onDemand, taskExecutor: executor)
        let caches = try TwoCaches(over: tier, on: executor)
        caches.fields["a"] = ["v": 0]
        caches.numbers[0] = 0
        try caches.store.batch { batch in
          for number in 0..<3 {
            batch.setValue(1, forKey: number, in: caches.numbers)
            batch.setValue(["v": 1], forKey: "\(number)", in: caches.fields)
          }
          batch.removeValue(forKey: "a", in: caches.fields)
        }
        tier.commit(commits)
        let again = try TwoCaches(over: tier.reopenedAfterCrash(), on: executor)
        let isThere = again.fields["0"] != nil
        for number in 0..<3 {
          try #require((again.fields["\(number)"] != nil) == isThere)
          try #require((again.numbers[number] == 1) == isThere)
        }
        if isThere { try #require(again.fields["a"] == nil) }
      }
    }
  }

  @Test(arguments: TwoCaches.commits)
  func `a batch over several caches that begins again applies nothing twice`(
    commits: FaultInjectingTier.CommitMode?
  ) throws {
    // The order of the caches differs from run to run.
    for _ in 0..<4 {
      try SeededExecutor.run(seed: 0) { executor in
        let meanwhile = Guarded<(@Sendable () -> Void)?>(nil)
        let tier = commits.map { FaultInjectingTier(commits: $0, taskExecutor: executor) }
        let caches = try TwoCaches(over: tier, on: executor) { cached, incoming in
          meanwhile.withLock { $0.take() }?()
          return cached.merging(incoming, uniquingKeysWith: +)
        }
        var configuration = CacheConfiguration<Fields>(merge: { $0.merging($1, uniquingKeysWith: +) })
        configuration.countLimit = 10
        let others = try (0..<3).map { number in
          try caches.store.cache("\(number)", of: Fields.self, keyedBy: String.self, configuration: configuration)
        }
        for cache in others + [caches.fields] { cache["k"] = ["v": 1] }
        let fields = caches.fields
        meanwhile.withLock { $0 = { fields["k"] = ["w": 1] } }
        let sets = Recorder<ChangeSet<String, Fields>>()
        let token = others[0].observeChangeSets { sets.record($0) }
        try caches.store.batch { batch in
          for cache in others + [fields] { batch.setValue(["v": 1], forKey: "k", in: cache) }
        }
        try #require(fields["k"] == ["v": 2, "w": 1])
        for cache in others { try #require(cache["k"] == ["v": 2]) }
        for _ in 0..<50 { await Task.yield() }
        try #require(sets.count == 1)
        try #require(caches.findings == [] && others.allSatisfy { $0.checkInvariants() == [] })
        token.cancel()
        meanwhile.withLock { $0 = nil }
      }
    }
  }

  private struct Stubborn: Codable, Sendable {
    func encode(to encoder: any Encoder) throws { throw Broken() }
  }

  @Test(arguments: TwoCaches.commits)
  func `a batch over several caches that throws stores nothing in any of them`(
    commits: FaultInjectingTier.CommitMode?
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let caches = try TwoCaches(commits, on: executor)
      let (store, numbers, fields) = (caches.store, caches.numbers, caches.fields)
      let stubborn = try store.cache("stubborn", of: Stubborn.self, keyedBy: Int.self)
      numbers[1] = 1
      #expect(throws: Broken.self) {
        try store.batch { batch in
          batch.removeValue(forKey: 1, in: numbers)
          throw Broken()
        }
      }
      func code(_ body: (StoreBatch) -> Void) -> CisternError.Code? {
        #expect(throws: CisternError.self) {
          try store.batch { batch in
            batch.removeValue(forKey: 1, in: numbers)
            batch.setValue(["v": 1], forKey: "a", in: fields)
            body(batch)
          }
        }?.code
      }
      try #require(code { $0.setValue(Stubborn(), forKey: 1, in: stubborn) } == .notEncodable)
      let alone = try Cache<Int, Int>(costLimit: 10)
      try #require(code { $0.setValue(1, forKey: 1, in: alone) } == .invalidArgument)
      let foreign = try TwoCaches(commits, on: executor)
      try #require(code { $0.setValue(1, forKey: 1, in: foreign.numbers) } == .invalidArgument)
      try #require(alone[1] == nil && foreign.numbers[1] == nil)
      if let tier = caches.tier {
        tier.setBatchLimit(3)
        try #require(code { for number in 2..<4 { $0.setValue(1, forKey: number, in: numbers) } } == .tooLarge)
        tier.setBatchLimit(nil)
      }
      try #require(numbers[1] == 1 && numbers[2] == nil && fields["a"] == nil && caches.findings == [])
      caches.tier?.commit()
      try await store.close()
      try #require(code { _ in } == .storeClosed)
      await #expect(throws: CisternError.self) { try await store.commitBatch { _ in } }
    }
  }

  @Test func `memory that cannot hold a batch over several caches takes the values that only memory can hold`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let tier = FaultInjectingTier(commits: .immediate, taskExecutor: executor)
      let caches = try TwoCaches(over: tier, on: executor, memoryLimit: .bytes(100))
      var configuration = CacheConfiguration<Int>()
      configuration.tiers = .memoryOnly
      let memory = try caches.store.cache("memory", of: Int.self, keyedBy: Int.self, configuration: configuration)
      for number in 0..<20 { caches.numbers[number] = 0 }
      try caches.store.batch { batch in
        for number in 0..<100 { batch.setValue(number, forKey: number, in: caches.numbers) }
        for number in 0..<8 { batch.setValue(number, forKey: number, in: memory) }
      }
      try #require((0..<8).allSatisfy { memory[$0] == $0 })
      try #require((0..<100).allSatisfy { caches.numbers[$0] == $0 })
      try #require(caches.store.statistics.memory.cost <= 100)
      let error = #expect(throws: CisternError.self) {
        try caches.store.batch { batch in
          batch.setValue(-1, forKey: 0, in: caches.numbers)
          for number in 0..<100 { batch.setValue(-1, forKey: number, in: memory) }
        }
      }
      try #require(error?.code == .tooLarge && caches.numbers[0] == 0)
      // Both caches need room that the other one has.
      for round in 0..<20 {
        try caches.store.batch { batch in
          for number in 0..<5 {
            batch.setValue(round, forKey: round * 5 + number, in: caches.numbers)
            batch.setValue(round, forKey: round % 2 * 5 + number, in: memory)
          }
        }
      }
      try #require(caches.findings == [] && memory.checkInvariants() == [])
      caches.store.trimMemory(to: .bytes(0))
      try #require(caches.store.statistics.memory.cost == 0)
    }
  }

  @Test func `a committed batch over several caches is on disk when it returns, and a failure is thrown`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let tier = FaultInjectingTier(commits: .onDemand, taskExecutor: executor)
      let caches = try TwoCaches(over: tier, on: executor)
      func commit() -> Task<Void, any Error> {
        Task(executorPreference: executor) {
          try await caches.store.commitBatch { batch in
            batch.setValue(1, forKey: 1, in: caches.numbers)
            batch.setValue(["v": 1], forKey: "a", in: caches.fields)
          }
        }
      }
      let first = commit()
      while caches.numbers[1] == nil { await Task.yield() }
      tier.commit()
      try await first.value
      let again = try TwoCaches(over: tier.reopenedAfterCrash(), on: executor)
      try #require(again.numbers[1] == 1 && again.fields["a"] == ["v": 1])
      tier.failCommits(1, with: CisternError(.noSpace, "no space left", location: "test"))
      let second = commit()
      for _ in 0..<50 { await Task.yield() }
      tier.commit()
      await #expect(throws: CisternError.self) { try await second.value }
      tier.refuseRecords { _ in true }
      await #expect(throws: CisternError.self) { try await commit().value }
      tier.refuseRecords(where: nil)
      try #require(caches.numbers[1] == 1)
    }
  }

  @Test(arguments: TwoCaches.commits)
  func `a batch over several caches meets loads, updates, edits, drafts and removals`(
    commits: FaultInjectingTier.CommitMode?
  ) throws {
    try SeededSchedule.explore(seeds: 120) { executor in
      let tier = commits.map { FaultInjectingTier(commits: $0, taskExecutor: executor) }
      let caches = try TwoCaches(over: tier, on: executor, merge: mergeFields)
      let (fields, numbers) = (caches.fields, caches.numbers)
      func task(_ body: @escaping @Sendable () async throws -> Void) -> Task<Void, any Error> {
        Task(executorPreference: executor, operation: body)
      }
      let isRemoving = executor.seed % 3 == 0
      var tasks = (0..<3).map { number in
        task {
          await Task.yield()
          try caches.store.batch { batch in
            batch.setValue(["batch\(number)": 1], forKey: "k", in: fields)
            batch.setValue(number, forKey: 1, in: numbers)
          }
          await Task.yield()
          try await fields.updateValue(forKey: "k") { value in
            await Task.yield()
            value?["update\(number)"] = 1
          }
        }
      }
      tasks.append(
        task {
          _ = try await fields.value(forKey: "k") { _ in
            await Task.yield()
            return ["loaded": 1]
          }
        })
      // A fetch that began before a batch never replaces its value.
      tasks.append(
        task {
          _ = try await numbers.value(forKey: 1) { _ in
            for _ in 0..<executor.seed % 7 { await Task.yield() }
            return -1
          }
        })
      tasks.append(
        task {
          try await fields.editValue(forKey: "k") { value in
            (value ?? [:]).merging(["edit": 1]) { $1 }
          } confirmedBy: {
            await Task.yield()
            return nil
          }
        })
      if isRemoving { tasks.append(task { fields.removeAll() }) }
      for task in tasks { try await task.value }
      try #require((0..<3).contains(numbers[1] ?? -1))
      if !isRemoving {
        for number in 0..<3 { try #require(fields["k"]?["batch\(number)"] == 1, "\(fields["k"] ?? [:])") }
      }
      tier?.commit()
      let before = (fields["k"], numbers[1])
      if commits != nil {
        fields.trim(toCost: 0)
        try #require(fields["k"] == before.0 && numbers[1] == before.1)
      }
      try #require(caches.findings == [])
    }
  }
}
