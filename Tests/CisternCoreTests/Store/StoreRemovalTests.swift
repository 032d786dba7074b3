import CisternCore
import CisternTesting
import CisternTestSupport
import Testing

/// Removal by tag from all caches of a store.
struct StoreRemovalTests {
  private static func store(over tier: FaultInjectingTier?, on executor: SeededExecutor) throws -> Store {
    try Store(
      secondTier: tier, memoryLimit: .mebibytes(1),
      configuration: .ignoringMemoryPressure(clock: ManualClock(), taskExecutor: executor))
  }

  private static func numbers(
    _ name: String, in store: Store, tiers: CacheTiers = .both
  ) throws -> Cache<String, Int> {
    var configuration = CacheConfiguration<Int>()
    configuration.tiers = tiers
    return try store.cache(name, of: Int.self, keyedBy: String.self, configuration: configuration)
  }

  private static func texts(in store: Store) throws -> Cache<Int, String> {
    try store.cache("texts", of: String.self, keyedBy: Int.self)
  }

  @Test(arguments: [nil, FaultInjectingTier.CommitMode.immediate, .onDemand])
  func `a tag removes its values from all caches of a store, and keeps all others`(
    commits: FaultInjectingTier.CommitMode?
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let tier = commits.map { FaultInjectingTier(commits: $0, taskExecutor: executor) }
      let store = try Self.store(over: tier, on: executor)
      let (numbers, texts) = (try Self.numbers("numbers", in: store), try Self.texts(in: store))
      let memory = try Self.numbers("memory", in: store, tiers: .memoryOnly)
      let (ofNumbers, ofTexts) = (Recorder<Change<String, Int>>(), Recorder<Change<Int, String>>())
      let tokens = Observations()
      numbers.observe { ofNumbers.record($0) }.store(in: tokens)
      texts.observe(.key(7)) { ofTexts.record($0) }.store(in: tokens)
      for cache in [numbers, memory] {
        cache.setValue(1, forKey: "a", tags: ["news"])
        cache.setValue(2, forKey: "b", tags: ["more"])
      }
      texts.setValue("one", forKey: 1, tags: ["news", "more"])
      texts.setValue("two", forKey: 2)
      if commits != nil { numbers.trim(toCost: 0) }
      let me = WriterContext()
      store.removeAll(tagged: "", context: me)
      store.removeAll(tagged: "news", context: me)
      try #require(numbers["a"] == nil && memory["a"] == nil && texts[1] == nil)
      try #require(numbers["b"] == 2 && memory["b"] == 2 && texts[2] == "two")
      while ofNumbers.count < 3 || ofTexts.count < 1 { await Task.yield() }
      try #require(ofNumbers.count == 3 && ofNumbers.elements[2].context == me)
      guard case .invalidated(.tag("news")) = ofNumbers.elements[2].event else { throw Broken() }
      guard case .invalidated(.tag("news")) = ofTexts.elements[0].event else { throw Broken() }
      // Values that are stored from now on are valid.
      texts.setValue("again", forKey: 1, tags: ["news"])
      try #require(texts[1] == "again")
      try #require(numbers.checkInvariants() + texts.checkInvariants() + memory.checkInvariants() == [])
      tokens.cancelAll()
    }
  }

  @Test(arguments: [nil, FaultInjectingTier.CommitMode.immediate, .onDemand])
  func `no fetch that began before a removal from the store is stored, in any cache`(
    commits: FaultInjectingTier.CommitMode?
  ) throws {
    try SeededSchedule.explore(seeds: 60) { executor in
      let tier = commits.map { FaultInjectingTier(commits: $0, taskExecutor: executor) }
      let store = try Self.store(over: tier, on: executor)
      let caches = try ["one", "two"].map { try Self.numbers($0, in: store) }
      let removed = Switch<Bool>()
      let loads = caches.map { cache in
        Task(executorPreference: executor) {
          try await cache.value(forKey: "k", tags: ["news"]) { _ in
            let isLate = removed.peek() ?? false
            for _ in 0..<executor.seed % 5 { await Task.yield() }
            return isLate ? 2 : 1
          }
        }
      }
      for _ in 0..<executor.seed % 9 { await Task.yield() }
      store.removeAll(tagged: "news")
      removed.set(true)
      // A caller that asks after the removal never gets the older value.
      for cache in caches {
        try #require(try await cache.value(forKey: "k", tags: ["news"]) { _ in 2 } == 2)
      }
      for load in loads { _ = try await load.value }
      for cache in caches {
        try #require(cache["k"] == 2)
        if commits != nil { cache.trim(toCost: 0) }
        try #require(cache["k"] == 2 && cache.checkInvariants() == [])
      }
    }
  }

  @Test func `a removal from the store reaches the values of caches that are opened later`() throws {
    for isOpen in [false, true] {
      try SeededExecutor.run(seed: 0) { executor in
        let tier = FaultInjectingTier(commits: .immediate, taskExecutor: executor)
        try Self.numbers("later", in: Self.store(over: tier, on: executor)).setValue(1, forKey: "a", tags: ["news"])
        let store = try Self.store(over: tier, on: executor)
        // A cache in memory only does not touch the records under its name.
        if isOpen { _ = try Self.numbers("later", in: store, tiers: .memoryOnly) }
        store.removeAll(tagged: "news")
        let another = try Self.store(over: tier, on: executor)
        try #require(try Self.numbers("later", in: another)["a"] == nil)
      }
    }
  }

  @Test func `after a crash all caches have the removal, or none has it`() throws {
    for commits in 0..<12 {
      try SeededExecutor.run(seed: 0) { executor in
        let tier = FaultInjectingTier(commits: .onDemand, taskExecutor: executor)
        let store = try Self.store(over: tier, on: executor)
        let caches = try ["one", "two", "three"].map { try Self.numbers($0, in: store) }
        for cache in caches { cache.setValue(1, forKey: "a", tags: ["news"]) }
        tier.commit()
        caches[0]["before"] = 1
        store.removeAll(tagged: "news")
        caches[1]["after"] = 1
        tier.commit(commits)
        let again = try Self.store(over: tier.reopenedAfterCrash(), on: executor)
        let found = try ["one", "two", "three"].map { try Self.numbers($0, in: again)["a"] }
        try #require(Set(found).count == 1, "\(found) after \(commits) commits")
        try #require((found[0] == nil) == (commits > 1))
      }
    }
  }

  @Test func `a committed removal from the store is on disk when it returns`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let tier = FaultInjectingTier(commits: .onDemand, taskExecutor: executor)
      let store = try Self.store(over: tier, on: executor)
      let caches = try ["one", "two"].map { try Self.numbers($0, in: store) }
      for cache in caches { cache.setValue(1, forKey: "a", tags: ["news"]) }
      tier.commit()
      let removal = Task(executorPreference: executor) { try await store.commitRemovalOfAll(tagged: "news") }
      while caches[1]["a"] != nil { await Task.yield() }
      tier.commit()
      try await removal.value
      let again = try Self.store(over: tier.reopenedAfterCrash(), on: executor)
      for name in ["one", "two"] { try #require(try Self.numbers(name, in: again)["a"] == nil) }

      tier.failCommits(1, with: CisternError(.noSpace, "no space left", location: "test"))
      let failing = Task(executorPreference: executor) { try await store.commitRemovalOfAll(tagged: "more") }
      for _ in 0..<20 { await Task.yield() }
      tier.commit()
      await #expect(throws: CisternError.self) { try await failing.value }
      // A store in memory has nothing to wait for.
      try await Self.store(over: nil, on: executor).commitRemovalOfAll(tagged: "news")
    }
  }

  @Test(arguments: [false, true])
  func `a cache that is opened during a removal from the store keeps no older value in memory`(
    isFirst: Bool
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let records = FaultInjectingTier(commits: .immediate, taskExecutor: executor)
      try Self.numbers("later", in: Self.store(over: records, on: executor)).setValue(1, forKey: "a", tags: ["news"])
      let tier = TierWithHook(records)
      let store = try Store(
        secondTier: tier, memoryLimit: .mebibytes(1),
        configuration: .ignoringMemoryPressure(clock: ManualClock(), taskExecutor: executor))
      let open = isFirst ? nil : try Self.numbers("open", in: store)
      defer { withExtendedLifetime(open) {} }
      let opened = Switch<Cache<String, Int>>()
      tier.beforeStaging.set {
        guard let later = try? Self.numbers("later", in: store) else { return }
        // The removal has not reached this cache, which reads the value into memory.
        if later["a"] == 1 { opened.set(later) }
      }
      store.removeAll(tagged: "news")
      let later = try #require(opened.peek())
      try #require(later["a"] == nil && later.checkInvariants() == [])
      tier.beforeStaging.set(nil)
      opened.set(nil)
    }
  }
}

/// A tier that calls a closure during the invalidation of several partitions, outside its lock.
private final class TierWithHook: TransactionalTier {
  let beforeStaging = Switch<@Sendable () -> Void>()
  private let base: FaultInjectingTier

  init(_ base: FaultInjectingTier) { self.base = base }

  func partition(
    named name: String, lossHandler: @escaping @Sendable ([RecordLoss]) -> Void
  ) throws(CisternError) -> any SecondTierPartition {
    try base.partition(named: name, lossHandler: lossHandler)
  }

  func flush() async throws(CisternError) { try await base.flush() }
  func close() async throws(CisternError) { try await base.close() }
  var statistics: SecondTierStatistics { base.statistics }
  func beginInvalidating() -> BatchToken { base.beginInvalidating() }

  func stageInvalidation(_ invalidation: Invalidation, exceptIn names: Set<String>, in batch: BatchToken) {
    beforeStaging.peek()?()
    base.stageInvalidation(invalidation, exceptIn: names, in: batch)
  }

  func endInvalidating(_ batch: BatchToken) -> CommitTicket { base.endInvalidating(batch) }
  func beginBatch() -> BatchToken { base.beginBatch() }
  func endBatch(_ batch: BatchToken) -> CommitTicket { base.endBatch(batch) }
  func waitForCommit(_ ticket: CommitTicket) async throws(CisternError) { try await base.waitForCommit(ticket) }
}
