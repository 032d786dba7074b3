import CisternTestSupport
import CisternTesting

@testable import CisternCore

/// A key that has the hash of all others.
struct EqualHashKey: CacheKey {
  let text: String

  func hash(into hasher: inout Hasher) {}

  func withKeyBytes<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result { try text.withKeyBytes(body) }

  init(_ text: String) { self.text = text }

  init?(keyBytes: RawSpan) {
    guard let text = String(keyBytes: keyBytes) else { return nil }
    self.init(text)
  }
}

/// A cache whose keys have one hash.
struct EqualHashSubject {
  let executor: SeededExecutor
  let tier: FaultInjectingTier?
  let cache: Cache<EqualHashKey, Int>
  let clock = ManualClock()

  init(
    _ kind: SubjectKind, on executor: SeededExecutor, expiry: Expiry = .never,
    configuration: CacheConfiguration<Int> = CacheConfiguration()
  ) throws {
    self.executor = executor
    switch kind {
    case .coalescer, .memory: tier = nil
    case .twoTiers: tier = FaultInjectingTier(commits: .immediate, taskExecutor: executor)
    case .staging: tier = FaultInjectingTier(commits: .onDemand, taskExecutor: executor)
    }
    let store = try Store(
      secondTier: tier, memoryLimit: .mebibytes(1),
      configuration: .ignoringMemoryPressure(clock: clock, taskExecutor: executor))
    cache = try store.cache(
      "numbers", of: Int.self, keyedBy: EqualHashKey.self, expiry: expiry, configuration: configuration)
  }

  /// Begins an edit that adds 100, and returns when its operation waits at the gate.
  func beginEdit(_ key: EqualHashKey, fails: Bool = false) async -> (edit: Task<Int?, any Error>, gate: Gate) {
    let gate = Gate()
    let edit = Task(executorPreference: executor) { [cache] in
      try await cache.editValue(forKey: key) { value in
        (value ?? 0) + 100
      } confirmedBy: {
        await gate.passUncancelled()
        if fails { throw Broken() }
        return nil
      }
    }
    await gate.arrivals(atLeast: 1)
    return (edit, gate)
  }

  var findings: [String] { cache.checkInvariants() + cache.watchFindings }
}
