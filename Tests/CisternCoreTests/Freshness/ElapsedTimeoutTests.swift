import CisternTesting
import CisternTestSupport
import Dispatch
import Locking
import Testing

@testable import CisternCore

/// Timeouts that have ended before the wait begins.
struct ElapsedTimeoutTests {
  @Test(arguments: SubjectKind.caches, [Duration.zero, .seconds(-1)])
  func `with a timeout of zero neither leader nor waiter waits for an instant fetch`(
    kind: SubjectKind, timeout: Duration
  ) throws {
    for completes in [false, true] {
      try SeededSchedule.explore(seeds: 50) { executor in
        let subject = try Subject(kind, on: executor, completesAbandonedFlights: completes)
        let policy = LoadPolicy.reload.timingOut(after: timeout)
        let loads = (0..<2).map { _ in subject.load("a", policy: policy) { _ in 1 } }
        for load in loads {
          let error = await #expect(throws: CisternError.self) { try await load.value }
          try #require(error?.code == .timedOut)
        }
        try #require(subject.cache.statistics.timeouts == 2)
        while subject.inProgressCount > 0 { await Task.yield() }
        try #require(subject.cache["a"] == (completes ? 1 : nil))
        try #require(subject.clock.sleeperCount == 0)
        try #require(subject.findings == [])
      }
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `a flight continues for its other waiters after a timeout of zero`(kind: SubjectKind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(kind, on: executor)
      let gate = Gate()
      let load = subject.load("a") { _ in
        try await gate.pass()
        return 1
      }
      await gate.arrivals(atLeast: 1)
      let hasty = subject.load("a", policy: .cachedOrFetch.timingOut(after: .zero)) { _ in 2 }
      await #expect(throws: CisternError.self) { try await hasty.value }
      gate.open()
      try #require(try await load.value == 1)
      try #require(subject.cache["a"] == 1)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches, [false, true])
  func `with a timeout of zero the older value is returned, and a soft timeout stores the fetched one`(
    kind: SubjectKind, isSoft: Bool
  ) throws {
    try SeededSchedule.explore(seeds: 50) { executor in
      let subject = try Subject(kind, on: executor, completesAbandonedFlights: !isSoft, expiry: .minute)
      subject.cache["a"] = -1
      subject.clock.advance(by: .seconds(61))
      let policy: LoadPolicy =
        isSoft ? .freshElseStale.returningStale(after: .zero) : .freshElseStale.timingOut(after: .zero)
      let load = subject.load("a", policy: policy) { _ in 1 }
      try #require(try await load.value == -1)
      while subject.inProgressCount > 0 { await Task.yield() }
      try #require(subject.cache["a"] == 1)
      try #require(subject.findings == [])
    }
  }

  @Test func `a caller with a timeout of zero gets no value of a flight that has completed before`() async throws {
    var configuration: Store.Configuration = .ignoringMemoryPressure
    configuration.taskExecutor = BlockingExecutor()
    let store = try Store(secondTier: nil, memoryLimit: .mebibytes(1), configuration: configuration)
    let cache = try store.cache("numbers", of: Int.self, keyedBy: String.self)
    let error = await #expect(throws: CisternError.self) {
      _ = try await cache.value(forKey: "a", policy: .freshOnly.timingOut(after: .zero)) { _ in 1 }
    }
    #expect(error?.code == .timedOut)
    // The fetch had ended when the load began to wait.
    #expect(cache["a"] == 1)
    #expect(cache.checkInvariants() == [])
  }

  private struct Broken: Error {}

  /// A codec whose first decoding waits, as a slow disk does.
  private final class SlowCodec: Codec {
    let isFirst = Guarded(true)
    let entered: AsyncStream<Void>.Continuation
    let proceed = DispatchSemaphore(value: 0)

    init(entered: AsyncStream<Void>.Continuation) { self.entered = entered }

    func encode(_ value: Int) -> [UInt8] { [UInt8(value)] }

    func decode(_ bytes: [UInt8]) -> Int {
      if isFirst.withLock({ isFirst in
        defer { isFirst = false }
        return isFirst
      }) {
        entered.yield()
        proceed.wait()
      }
      return Int(bytes[0])
    }
  }

  @Test(arguments: [LoadPolicy.cachedOrFetch, .freshElseStale, .freshOnly], [false, true])
  func `a caller whose time ends while another one reads the second tier gets the value that its policy accepts`(
    policy: LoadPolicy, isStale: Bool
  ) async throws {
    let clock = ManualClock()
    let (entries, entered) = AsyncStream<Void>.makeStream()
    let codec = SlowCodec(entered: entered)
    let store = try Store(
      secondTier: FaultInjectingTier(), memoryLimit: .mebibytes(1), configuration: .ignoringMemoryPressure(clock: clock)
    )
    let cache = try store.cache(
      "numbers", codec: codec, keyedBy: String.self,
      expiry: .after(.seconds(60), graceStale: .seconds(60)))
    cache["a"] = 7
    cache.trim(toCost: 0)
    if isStale { clock.advance(by: .seconds(61)) }
    let leader = Task(executorPreference: ThreadPerJob()) {
      try await cache.value(forKey: "a", policy: policy) { _ in throw Broken() }
    }
    for await _ in entries { break }
    let hasty = policy.timingOut(after: .zero)
    let isAccepted = policy != .freshOnly || !isStale
    let outcomes = [
      await outcome { try await cache.value(forKey: "a", policy: hasty) { _ in throw Broken() } },
      await outcome { try await cache.values(forKeys: ["a"], policy: hasty) { _ in throw Broken() }["a"] },
    ]
    codec.proceed.signal()
    #expect(outcomes == (isAccepted ? [7, 7] : [nil, nil]))
    #expect(await outcome { try await leader.value } == (isAccepted ? 7 : nil))
    // A stale value begins a refresh.
    while cache.statistics.inProgressCount > 0 { await Task.yield() }
    #expect(cache.checkInvariants() == [])
  }

  /// Returns the value of a load; nil if it throws or has none.
  private func outcome(_ load: () async throws -> Int?) async -> Int? { (try? await load()) ?? nil }
}
