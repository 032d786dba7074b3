import CisternCore
import CisternTesting
import CisternTestSupport
import Locking
import Testing

/// Observation by handlers: scopes, order and the end of a token. The tests use one thread and are repeatable.
@Suite struct ObservingTests {
  private typealias Registry = ObserverRegistry<String, Int>

  private func settle() async {
    for _ in 0..<64 { await Task.yield() }
  }

  private func onSchedules(
    _ body: @escaping @Sendable (ObserverRegistry<String, Int>, SeededExecutor) async throws -> Void
  ) throws {
    try SeededSchedule.explore(seeds: 50) { executor in
      try await body(ObserverRegistry(taskExecutor: executor), executor)
    }
  }

  @Test func `a registry is observed only between the first registration and its cancellation`() throws {
    try onSchedules { registry, _ in
      try #require(!registry.isObserved)
      let token = registry.observe(.all) { _ in }
      try #require(registry.isObserved)
      token.cancel()
      try #require(!registry.isObserved)
      token.cancel()
      try #require(!registry.isObserved)
    }
  }

  @Test func `each scope receives the changes of its keys once, and every scope receives a clear`() throws {
    try onSchedules { registry, _ in
      let all = Recorder<String>()
      let one = Recorder<String>()
      let several = Recorder<String>()
      let prefix = Recorder<String>()
      let tokens = Observations()
      registry.observe(.all) { all.record($0.key ?? "-") }.store(in: tokens)
      registry.observe(.key("user/1")) { one.record($0.key ?? "-") }.store(in: tokens)
      registry.observe(.keys(["user/1", "b"])) { several.record($0.key ?? "-") }.store(in: tokens)
      registry.observe(.prefix("user/")) { prefix.record($0.key ?? "-") }.store(in: tokens)
      for key in ["a", "user/1", "b", "user/2", "user", ""] { registry.change(.inserted(key, 1)) }
      registry.change(.cleared)
      await settle()
      try #require(all.elements == ["a", "user/1", "b", "user/2", "user", "", "-"])
      try #require(one.elements == ["user/1", "-"])
      try #require(several.elements == ["user/1", "b", "-"])
      try #require(prefix.elements == ["user/1", "user/2", "-"])
      tokens.cancelAll()
      try #require(!registry.isObserved)
    }
  }

  @Test func `a prefix compares bytes, also for byte keys`() async {
    let registry = ObserverRegistry<[UInt8], Int>(taskExecutor: nil)
    var updates = registry.updates(.prefix([1, 2]), buffering: .bounded(9)).makeAsyncIterator()
    for key: [UInt8] in [[1], [1, 2], [1, 2, 3], [2, 1]] { registry.change(.inserted(key, 1)) }
    #expect(await updates.next()?.key == [1, 2])
    #expect(await updates.next()?.key == [1, 2, 3])
  }

  @Test func `a prefix matches equal strings in any Unicode form`() async {
    let registry = Registry(taskExecutor: nil)
    var updates = registry.updates(.prefix("caf\u{E9}/"), buffering: .bounded(9)).makeAsyncIterator()
    registry.change(.inserted("cafe\u{301}/1", 1))
    #expect(await updates.next()?.value == 1)
  }

  @Test func `changes of a key arrive in commit order, exactly once, with ascending numbers`() throws {
    try onSchedules { registry, executor in
      let heard = Recorder<Change<String, Int>>()
      let token = registry.observe(.all) { heard.record($0) }
      let writers = (0..<3).map { writer in
        Task(executorPreference: executor) {
          for value in 0..<20 {
            registry.change(value == 0 ? .inserted("\(writer)", 0) : .updated("\(writer)", value))
            await Task.yield()
          }
          registry.change(.removed("\(writer)", .explicit))
        }
      }
      for writer in writers { await writer.value }
      await settle()
      for writer in 0..<3 {
        let own = heard.elements.filter { $0.key == "\(writer)" }
        try #require(own.map(\.value) == (0..<20).map(Optional.init) + [nil])
        try #require(own.map(\.number) == own.map(\.number).sorted())
      }
      try #require(Set(heard.elements.map(\.number)).count == 63)
      token.cancel()
    }
  }

  @Test func `an observer receives every change after its registration, and none before`() throws {
    try onSchedules { registry, _ in
      registry.change(.inserted("a", 1))
      let heard = Recorder<Int?>()
      let first = registry.observe(.key("a")) { heard.record($0.value) }
      registry.change(.updated("a", 2))
      let second = registry.observe(.key("a")) { heard.record($0.value.map { -$0 }) }
      registry.change(.updated("a", 3))
      await settle()
      try #require(heard.elements.compactMap(\.self).sorted() == [-3, 2, 3])
      first.cancel()
      second.cancel()
    }
  }

  @Test func `a cancelled token delivers nothing, not even a change recorded earlier`() throws {
    try onSchedules { registry, executor in
      let heard = Recorder<Int?>()
      let token = registry.observe(.all) { heard.record($0.value) }
      let writer = Task(executorPreference: executor) {
        for value in 0..<30 {
          registry.change(.updated("a", value))
          await Task.yield()
        }
      }
      for _ in 0..<10 { await Task.yield() }
      token.cancel()
      let count = heard.count
      await writer.value
      await settle()
      try #require(heard.count == count)
      try #require(heard.elements == (0..<count).map(Optional.init))
    }
  }

  @Test func `a token observes while it is in scope, and not after`() throws {
    try onSchedules { registry, _ in
      let heard = Recorder<Int?>()
      func observe() async throws {
        let token = registry.observe(.all) { heard.record($0.value) }
        registry.change(.inserted("a", 1))
        await settle()
        registry.change(.updated("a", 2))
        await settle()
        try #require(registry.isObserved)
        _ = consume token
        try #require(!registry.isObserved)
      }
      try await observe()
      registry.change(.updated("a", 3))
      await settle()
      try #require(heard.elements == [1, 2])
    }
  }

  @Test func `tokens in a collection last as long as the collection`() {
    let registry = Registry(taskExecutor: nil)
    var bag: Observations? = Observations()
    registry.observe(.all) { _ in }.store(in: bag!)
    registry.observe(.key("a")) { _ in }.store(in: bag!)
    #expect(registry.isObserved)
    bag = nil
    #expect(!registry.isObserved)
  }

  @Test func `a handler may cancel its own observation, and then receives nothing more`() throws {
    try onSchedules { registry, _ in
      let heard = Recorder<Int?>()
      let bag = Observations()
      registry.observe(.all) { change in
        heard.record(change.value)
        if change.value == 2 { bag.cancelAll() }
      }.store(in: bag)
      for value in 1...5 { registry.change(.updated("a", value)) }
      await settle()
      try #require(heard.elements == [1, 2])
      try #require(!registry.isObserved)
    }
  }

  @Test func `a handler may change the observed keys, and receives those changes too`() throws {
    try onSchedules { registry, _ in
      let heard = Recorder<Int?>()
      let token = registry.observe(.all) { [weak registry] change in
        heard.record(change.value)
        if let value = change.value, value < 100 { registry?.change(.updated("a", value + 1)) }
      }
      registry.change(.inserted("a", 0))
      for _ in 0..<20 { await settle() }
      try #require(heard.elements == (0...100).map(Optional.init))
      token.cancel()
    }
  }

  @Test func `a handler that never runs stalls neither writers nor other observers`() async {
    let registry = Registry(taskExecutor: StandingExecutor())
    let heard = Recorder<Int?>()
    let token = registry.observe(.all) { heard.record($0.value) }
    var updates = registry.updates(.all, buffering: .bounded(1_000)).makeAsyncIterator()
    for value in 0..<1_000 { registry.change(.updated("a", value)) }
    for value in 0..<1_000 { #expect(await updates.next()?.value == value) }
    token.cancel()
    #expect(heard.count == 0)
  }

  @Test func `a handler may observe, cancel and change`() throws {
    try onSchedules { registry, executor in
      let others = Observations()
      let heard = Recorder<String>()
      registry.observe(.all) { _ in heard.record("other") }.store(in: others)
      let token = registry.observe(.key("a")) { change in
        others.cancelAll()
        registry.observe(.key("b")) { _ in heard.record("inner") }.store(in: others)
        registry.change(.inserted("b", 1))
        heard.record("outer")
      }
      registry.change(.inserted("a", 1))
      await settle()
      try #require(heard.elements.suffix(2) == ["outer", "inner"] || heard.elements.contains("other"))
      try #require(heard.elements.filter { $0 == "inner" }.count == 1)
      token.cancel()
      others.cancelAll()
      try #require(!registry.isObserved)
    }
  }

  @Test func `a cache may be freed before its token`() {
    var registry: Registry? = Registry(taskExecutor: nil)
    let token = registry!.observe(.all) { _ in }
    registry = nil
    token.cancel()
  }
}

/// An executor that never runs its jobs.
private final class StandingExecutor: TaskExecutor {
  private let jobs = Guarded<[UnownedJob]>([])

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
  }
}

extension ObserverRegistry {
  /// Records and delivers a change, as the cache does.
  func change(_ event: Change<Key, Value>.Event) {
    record(event)
    deliver()
  }
}
