import Cistern
import CisternTesting
import Locking
import Testing

/// The handler form: scopes, order, and the token's end, on one thread and repeatable.
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

  @Test func `nobody listens until somebody does, and not after`() throws {
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

  @Test func `each scope hears its keys once, and everyone of a clear`() throws {
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

  @Test func `a prefix is one of bytes, for byte keys too`() async {
    let registry = ObserverRegistry<[UInt8], Int>(taskExecutor: nil)
    var updates = registry.updates(.prefix([1, 2]), buffering: .bounded(9)).makeAsyncIterator()
    for key: [UInt8] in [[1], [1, 2], [1, 2, 3], [2, 1]] { registry.change(.inserted(key, 1)) }
    #expect(await updates.next()?.key == [1, 2])
    #expect(await updates.next()?.key == [1, 2, 3])
  }

  @Test func `a prefix finds equal strings, however their accents are written`() async {
    let registry = Registry(taskExecutor: nil)
    var updates = registry.updates(.prefix("caf\u{E9}/"), buffering: .bounded(9)).makeAsyncIterator()
    registry.change(.inserted("cafe\u{301}/1", 1))
    #expect(await updates.next()?.value == 1)
  }

  @Test func `changes of a key come in commit order, exactly once, with rising numbers`() throws {
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

  @Test func `every change after registering is seen, and none before`() throws {
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

  @Test func `nothing is heard once the token is cancelled, though it was recorded before`() throws {
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

  @Test func `nothing is heard once the token is out of scope, and it lives until then`() throws {
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

  @Test func `tokens in a bag last as long as the bag`() {
    let registry = Registry(taskExecutor: nil)
    var bag: Observations? = Observations()
    registry.observe(.all) { _ in }.store(in: bag!)
    registry.observe(.key("a")) { _ in }.store(in: bag!)
    #expect(registry.isObserved)
    bag = nil
    #expect(!registry.isObserved)
  }

  @Test func `a handler may cancel its own observation, and hears nothing more`() throws {
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

  @Test func `a handler may change what it observes, and hears of that too`() throws {
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

  @Test func `a handler that never gets to run stalls neither writers nor other observers`() async {
    let registry = Registry(taskExecutor: StandingExecutor())
    let heard = Recorder<Int?>()
    let token = registry.observe(.all) { heard.record($0.value) }
    var updates = registry.updates(.all, buffering: .bounded(1_000)).makeAsyncIterator()
    for value in 0..<1_000 { registry.change(.updated("a", value)) }
    for value in 0..<1_000 { #expect(await updates.next()?.value == value) }
    token.cancel()
    #expect(heard.count == 0)
  }

  @Test func `inside a handler everything may be done: observe, cancel, change, iterate`() throws {
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

  @Test func `the cache may go before its token`() {
    var registry: Registry? = Registry(taskExecutor: nil)
    let token = registry!.observe(.all) { _ in }
    registry = nil
    token.cancel()
  }
}

/// An executor whose jobs never get their turn.
private final class StandingExecutor: TaskExecutor {
  private let jobs = Guarded<[UnownedJob]>([])

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
  }
}

extension ObserverRegistry {
  /// A change, as the cache makes it.
  func change(_ event: Change<Key, Value>.Event) {
    record(event)
    deliver()
  }
}
