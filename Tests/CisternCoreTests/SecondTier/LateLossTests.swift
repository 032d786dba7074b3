import CisternTesting
import CisternTestSupport
import Locking
import Testing

@testable import CisternCore

/// A tier that loses records at any time, and reports them later. It implements the acknowledgment of losses.
private final class LosingTier: SecondTier, SecondTierPartition {
  private struct State {
    var records: [[UInt8]: (metadata: RecordMetadata, bytes: [UInt8])] = [:]
    /// The schema versions of lost records whose loss is not acknowledged.
    var lost: [[UInt8]: UInt32] = [:]
    var lossHandler: @Sendable ([RecordLoss]) -> Void = { _ in }
    var unreported: [RecordLoss] = []
    /// The closure that the next read calls between its look-up and its return.
    var duringRead: (@Sendable () -> Void)?
  }

  private let state = Guarded(State())

  func partition(
    named name: String, lossHandler: @escaping @Sendable ([RecordLoss]) -> Void
  ) throws(CisternError) -> any SecondTierPartition {
    state.withLock { $0.lossHandler = lossHandler }
    return self
  }

  func flush() async throws(CisternError) {}

  func close() async throws(CisternError) {}

  var statistics: SecondTierStatistics { SecondTierStatistics() }

  func withRecord<Result>(
    forKey key: RawSpan, _ body: (RecordMetadata, RawSpan) throws -> Result
  ) rethrows -> Result? {
    let key = key.copiedBytes()
    let (found, duringRead) = state.withLock { state in
      defer { state.duringRead = nil }
      return (state.records[key], state.duringRead)
    }
    duringRead?()
    guard let record = found else { return nil }
    return try body(record.metadata, record.bytes.rawSpan)
  }

  func contains(_ key: RawSpan) -> Bool {
    let key = key.copiedBytes()
    return state.withLock { $0.records[key] != nil || $0.lost[key] != nil }
  }

  func acknowledgeLoss(of key: RawSpan) -> Bool {
    let key = key.copiedBytes()
    return state.withLock { $0.lost.removeValue(forKey: key) != nil }
  }

  func schemaVersion(ofLost key: RawSpan) -> UInt32? {
    let key = key.copiedBytes()
    return state.withLock { $0.lost[key] }
  }

  func stage(_ write: StagedWrite) -> StagingResult {
    state.withLock { state in
      state.lost[write.key] = nil
      switch write {
      case .record(let key, let metadata, let bytes): state.records[key] = (metadata, bytes)
      case .removal(let key): state.records[key] = nil
      }
      return .staged(CommitTicket(number: 1))
    }
  }

  func stageRemovalOfAll() -> CommitTicket {
    state.withLock { state in
      state.records = [:]
      state.lost = [:]
      return CommitTicket(number: 1)
    }
  }

  func waitForCommit(_ ticket: CommitTicket) async throws(CisternError) {}

  func forEachRecord(_ body: (_ key: RawSpan, RecordMetadata, _ size: Int) throws -> Bool) rethrows {
    for (key, record) in state.withLock({ $0.records }) {
      guard try body(key.rawSpan, record.metadata, record.bytes.count) else { return }
    }
  }

  /// Makes the next read call a closure between its look-up and its return.
  func setDuringRead(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.duringRead = body } }

  /// Removes the record of a key. The loss is reported later.
  func lose(_ key: String) {
    let key = Array(key.utf8)
    state.withLock { state in
      guard let version = state.records.removeValue(forKey: key)?.metadata.schemaVersion else { return }
      state.lost[key] = version
      state.unreported.append(RecordLoss(key: key, cause: .evicted, schemaVersion: version))
    }
  }

  func report() {
    let (handler, losses) = state.withLock { state in
      defer { state.unreported = [] }
      return (state.lossHandler, state.unreported)
    }
    handler(losses)
  }
}

/// Losses that a custom tier reports after the key was used again.
@Suite struct LateLossTests {
  enum Operation: CaseIterable, Sendable {
    case nothing, lookUp, set, setAndEvict, setAndRemoval, setAndLoss, setAndClear, removal, twoRemovals, update, clear,
      expiry, expiryAfterLoss, load, merge, failingEdit, removingEdit, failingRemovingEdit, removingEditAndSet
  }

  private static func perform(
    _ operation: Operation, _ cache: Cache<String, Int>, _ tier: LosingTier, _ clock: ManualClock
  ) async throws {
    switch operation {
    case .nothing: break
    case .lookUp: _ = cache["a"]
    case .set: cache["a"] = 2
    case .setAndEvict:
      cache["a"] = 2
      cache.trim(toCost: 0)
    case .setAndRemoval:
      cache["a"] = 2
      cache["a"] = nil
    case .setAndLoss:
      cache["a"] = 2
      cache.trim(toCost: 0)
      tier.lose("a")
    case .setAndClear:
      cache["a"] = 2
      cache.removeAll()
    case .removal: cache["a"] = nil
    case .twoRemovals:
      cache["a"] = nil
      cache["a"] = nil
    case .update: cache.updateValue(forKey: "a") { $0 = ($0 ?? 0) + 2 }
    case .clear: cache.removeAll()
    case .expiry:
      cache.setValue(2, forKey: "a", expiry: .after(.seconds(1)))
      cache.trim(toCost: 0)
      clock.advance(by: .seconds(2))
      _ = cache["a"]
    case .expiryAfterLoss:
      cache.setValue(2, forKey: "a", expiry: .after(.seconds(1)))
      tier.lose("a")
      clock.advance(by: .seconds(2))
      _ = cache["a"]
    case .load: _ = try await cache.value(forKey: "a") { _ in 2 }
    case .merge: try cache.batch { $0.setValue(2, forKey: "a") }
    case .failingEdit: await edit(cache, to: 2, isConfirmed: false)
    case .removingEdit: await edit(cache, to: nil, isConfirmed: true)
    case .failingRemovingEdit: await edit(cache, to: nil, isConfirmed: false)
    case .removingEditAndSet:
      await edit(cache, to: nil, isConfirmed: true)
      cache["a"] = 2
    }
  }

  /// Edits the key to a value that is confirmed or withdrawn.
  private static func edit(_ cache: Cache<String, Int>, to value: Int?, isConfirmed: Bool) async {
    _ = try? await cache.editValue(forKey: "a") { _ in
      value
    } confirmedBy: {
      if !isConfirmed { throw Broken() }
      return nil
    }
  }

  @Test(arguments: Operation.allCases, [false, true])
  func `observers see a gapless sequence of changes, whenever the tier reports a loss`(
    operation: Operation, isInMemory: Bool
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let (tier, clock) = (LosingTier(), ManualClock())
      let store = try Store(
        secondTier: tier, memoryLimit: .mebibytes(1),
        configuration: .ignoringMemoryPressure(clock: clock, taskExecutor: executor))
      let cache = try store.cache("numbers", of: Int.self, keyedBy: String.self)
      let audit = Recorder<String>()
      let changes = ChangeAudit()
      let token = cache.observe { change in
        changes.take(change)
        audit.record("\(change.event)")
      }
      cache["a"] = 1
      if !isInMemory { cache.trim(toCost: 0) }
      tier.lose("a")
      try await Self.perform(operation, cache, tier, clock)
      tier.report()
      for _ in 0..<100 { await Task.yield() }
      try #require(changes.findings == [], "\(audit.elements)")
      try #require((changes.values["a"] != nil) == cache.contains("a"), "\(audit.elements)")
      try #require(cache.checkInvariants() == [])
      token.cancel()
    }
  }

  @Test(arguments: [false, true])
  func `a value that is lost while it is read does not return after a miss, whether its loss is reported`(
    isReported: Bool
  ) async throws {
    let tier = LosingTier()
    let store = try Store(
      secondTier: tier, memoryLimit: .mebibytes(1), configuration: .ignoringMemoryPressure(clock: ManualClock()))
    let cache = try store.cache("numbers", of: Int.self, keyedBy: String.self)
    let found = Recorder<Int?>()
    for isLoad in [false, true] {
      cache["a"] = 1
      cache.trim(toCost: 0)
      tier.setDuringRead {
        tier.lose("a")
        if isReported { tier.report() }
        found.record(cache["a"])
      }
      if isLoad {
        found.record(try await cache.value(forKey: "a") { _ in 2 })
      } else {
        found.record(cache["a"])
      }
      found.record(cache["a"])
      tier.report()
    }
    #expect(found.elements == [nil, 1, nil, nil, 1, nil])
    #expect(cache.checkInvariants() == [])
  }

  @Test(arguments: [false, true])
  func `for observers, the key of a newer version's lost record is absent`(isRemoved: Bool) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let tier = LosingTier()
      func open(version: UInt32) throws -> Cache<String, Int> {
        let store = try Store(
          secondTier: tier, memoryLimit: .mebibytes(1),
          configuration: .ignoringMemoryPressure(clock: ManualClock(), taskExecutor: executor))
        var configuration = CacheConfiguration<Int>()
        configuration.schema = CacheSchema(version: version)
        return try store.cache("numbers", of: Int.self, keyedBy: String.self, configuration: configuration)
      }
      try open(version: 2)["a"] = 1
      let cache = try open(version: 1)
      let audit = Recorder<String>()
      let token = cache.observe { audit.record("\($0.event)") }
      tier.lose("a")
      if isRemoved { cache["a"] = nil }
      cache["a"] = 2
      tier.report()
      for _ in 0..<100 { await Task.yield() }
      try #require(audit.elements == [#"inserted("a", 2)"#])
      try #require(cache.statistics.removals == 0)
      token.cancel()
    }
  }
}
