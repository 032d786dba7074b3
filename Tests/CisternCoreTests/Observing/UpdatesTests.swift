import CisternCore
import CisternTesting
import Locking
import Testing

/// Observation by sequences: their elements and their end.
@Suite struct UpdatesTests {
  private typealias Registry = ObserverRegistry<String, Int>

  @Test func `the first iterator receives every change since the creation of the sequence`() async {
    let registry = Registry(taskExecutor: nil)
    registry.change(.inserted("a", 0))
    let updates = registry.updates(.key("a"), buffering: .bounded(10))
    registry.change(.updated("a", 1))
    registry.change(.inserted("b", 7))
    var iterator = updates.makeAsyncIterator()
    registry.change(.updated("a", 2))
    #expect(await iterator.next()?.value == 1)
    #expect(await iterator.next()?.value == 2)
  }

  @Test func `a further iterator begins at its creation, and each receives every change`() async {
    let registry = Registry(taskExecutor: nil)
    let updates = registry.updates(.all, buffering: .bounded(10))
    registry.change(.inserted("a", 1))
    var first = updates.makeAsyncIterator()
    var second = updates.makeAsyncIterator()
    registry.change(.updated("a", 2))
    #expect(await first.next()?.value == 1)
    #expect(await first.next()?.value == 2)
    #expect(await second.next()?.value == 2)
  }

  @Test func `with newest-per-key buffering, a slow consumer gets the newest change of each key`() async {
    let registry = Registry(taskExecutor: nil)
    var iterator = registry.updates(.all, buffering: .newestPerKey).makeAsyncIterator()
    for value in 1...100 {
      registry.change(.updated("a", value))
      registry.change(.updated("b", -value))
    }
    registry.change(.removed("b", .expired))
    #expect(await iterator.next()?.value == 100)
    let last = await iterator.next()
    #expect(last?.key == "b" && last?.value == nil)
  }

  /// Starts a task that collects the values of all changes. The closure gets the number of values after each, and
  /// returns whether the task continues.
  private func consumer(
    of registry: Registry, on executor: SeededExecutor, continues: @escaping @Sendable (_ count: Int) async -> Bool
  ) -> Task<[Int?], Never> {
    let updates = registry.updates(.all, buffering: .bounded(100))
    return Task(executorPreference: executor) {
      var values: [Int?] = []
      for await change in updates {
        values.append(change.value)
        if await !continues(values.count) { break }
      }
      return values
    }
  }

  @Test func `a change resumes a waiting consumer`() throws {
    try SeededSchedule.explore(seeds: 300) { executor in
      let registry = Registry(taskExecutor: executor)
      let consumer = consumer(of: registry, on: executor) { count in count < 20 }
      for value in 0..<20 {
        registry.change(.updated("a", value))
        if value.isMultiple(of: 3) { await Task.yield() }
      }
      try #require(await consumer.value == (0..<20).map(Optional.init))
      try #require(!registry.isObserved)
    }
  }

  @Test func `a cancelled consumer ends immediately at any instant, and is unregistered`() throws {
    try SeededSchedule.explore(seeds: 500) { executor in
      let registry = Registry(taskExecutor: executor)
      let consumer = consumer(of: registry, on: executor) { _ in
        await Task.yield()
        return true
      }
      let writer = Task(executorPreference: executor) {
        for value in 0..<10 {
          registry.change(.updated("a", value))
          await Task.yield()
        }
      }
      for _ in 0..<5 { await Task.yield() }
      consumer.cancel()
      let values = await consumer.value
      await writer.value
      try #require(values == (0..<values.count).map(Optional.init))
      try #require(!registry.isObserved)
    }
  }

  @Test func `a consumer that leaves the loop, drops the iterator or never iterates is unregistered`() async {
    let registry = Registry(taskExecutor: nil)
    do {
      let updates = registry.updates(.all, buffering: .newestPerKey)
      #expect(registry.isObserved)
      registry.change(.inserted("a", 1))
      for await _ in updates { break }
      #expect(!registry.isObserved)
    }
    do {
      let iterator = registry.updates(.all, buffering: .newestPerKey).makeAsyncIterator()
      #expect(registry.isObserved)
      _ = iterator
    }
    #expect(!registry.isObserved)
    do {
      let updates = registry.updates(.all, buffering: .newestPerKey)
      #expect(registry.isObserved)
      _ = updates
    }
    #expect(!registry.isObserved)
  }

  @Test func `the sequence ends with the cache, after its buffered changes`() async {
    var registry: Registry? = Registry(taskExecutor: nil)
    let updates = registry!.updates(.all, buffering: .bounded(10))
    registry!.change(.inserted("a", 1))
    registry!.change(.updated("a", 2))
    registry = nil
    var values: [Int?] = []
    for await change in updates { values.append(change.value) }
    #expect(values == [1, 2])
    for await _ in updates { Issue.record("the sequence has ended") }
  }

  @Test func `the end of the cache resumes a waiting consumer`() throws {
    try SeededSchedule.explore(seeds: 100) { executor in
      var registry: Registry? = Registry(taskExecutor: executor)
      let updates = registry!.updates(.all, buffering: .newestPerKey)
      let consumer = Task(executorPreference: executor) {
        var count = 0
        for await _ in updates { count += 1 }
        return count
      }
      await Task.yield()
      registry!.change(.inserted("a", 1))
      await Task.yield()
      registry = nil
      try #require(await consumer.value == 1)
    }
  }

  @Test func `the sequence stays on the actor that iterates`() async {
    await iterateOnMainActor()
  }

  @MainActor private func iterateOnMainActor() async {
    let registry = Registry(taskExecutor: nil)
    var heard: [Int?] = []
    let updates = registry.updates(.all, buffering: .bounded(10))
    registry.change(.inserted("a", 1))
    for await change in updates {
      MainActor.assertIsolated()
      heard.append(change.value)
      if heard.count == 3 { break }
      registry.change(.updated("a", heard.count + 1))
    }
    #expect(heard == [1, 2, 3])
  }
}
