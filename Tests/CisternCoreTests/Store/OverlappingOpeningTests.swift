import CisternTesting
import CisternTestSupport
import Locking
import Testing

@testable import CisternCore

/// A tier that calls a closure while it opens a partition, as if another thread ran then.
private final class PausedOpeningTier: SecondTier {
  let base: FaultInjectingTier
  private let isPausedAtEnd: Bool
  private let pause = Guarded<(@Sendable () -> Void)?>(nil)

  init(_ base: FaultInjectingTier, isPausedAtEnd: Bool) {
    self.base = base
    self.isPausedAtEnd = isPausedAtEnd
  }

  /// Calls the closure during the next opening of a partition.
  func pauseOnce(_ body: @escaping @Sendable () -> Void) { pause.withLock { $0 = body } }

  func partition(
    named name: String, lossHandler: @escaping @Sendable ([RecordLoss]) -> Void
  ) throws(CisternError) -> any SecondTierPartition {
    let pause = pause.withLock { $0.take() }
    if !isPausedAtEnd { pause?() }
    let partition = try base.partition(named: name, lossHandler: lossHandler)
    if isPausedAtEnd { pause?() }
    return partition
  }

  func flush() async throws(CisternError) { try await base.flush() }
  func close() async throws(CisternError) { try await base.close() }
  var statistics: SecondTierStatistics { base.statistics }
}

/// Openings of one cache that overlap.
@Suite struct OverlappingOpeningTests {
  @Test(arguments: [false, true], [false, true])
  func `a cache receives record losses if another opening of it overlaps with its own`(
    isPausedAtEnd: Bool, conflicts: Bool
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let base = FaultInjectingTier(taskExecutor: executor)
      let tier = PausedOpeningTier(base, isPausedAtEnd: isPausedAtEnd)
      let store = try Store(
        secondTier: tier, memoryLimit: .mebibytes(1),
        configuration: .ignoringMemoryPressure(clock: ManualClock(), taskExecutor: executor))
      @Sendable func open(expiry: Expiry = .never) throws -> Cache<String, Int> {
        try store.cache("numbers", of: Int.self, keyedBy: String.self, expiry: expiry)
      }
      let entered = Recorder<Cache<String, Int>>()
      tier.pauseOnce { if let cache = try? open() { entered.record(cache) } }
      if conflicts {
        let error = #expect(throws: CisternError.self) { _ = try open(expiry: .after(.seconds(1))) }
        try #require(error?.code == .conflictingOpen)
      } else {
        _ = try open()
      }
      let cache = try open()
      try #require(entered.elements.first === cache)
      let values = Recorder<Int?>()
      let token = cache.observe { values.record($0.value) }
      cache["a"] = 1
      cache.trim(toCost: 0)
      try await base.flush()
      try #require(base.evict("a", from: "numbers"))
      for _ in 0..<100 { await Task.yield() }
      try #require(values.elements == [1, nil])
      try #require(cache.statistics.diskEvictions == 1)
      token.cancel()
    }
  }
}
