import CisternTestSupport
import CisternTesting
import Locking

@testable import CisternCore

/// The smallest tier that a user can write, with a mode that a test sets.
final class SmallTier: SecondTier {
  struct State {
    var records: [[UInt8]: (metadata: RecordMetadata, bytes: [UInt8])] = [:]
    var mode = SecondTierStatistics.Mode.active
    var lossHandler: @Sendable ([RecordLoss]) -> Void = { _ in }
    var waitedFor: [CommitTicket] = []
    var newest: UInt64 = 0
    /// Whether the tier closes when it lists its records.
    var closesAtListing = false
    /// Whether the enumeration lists each record twice.
    var listsTwice = false
    /// Whether the tier refuses a write.
    var refuses: @Sendable (StagedWrite) -> Bool = { _ in false }
    /// The closure that the next read calls between its look-up and its return.
    var duringRead: (@Sendable () -> Void)?
    /// The closure that the next enumeration calls before it reads the records.
    var beforeListing: (@Sendable () -> Void)?
    /// The number of reads.
    var readCount = 0
    /// The number of enumerations.
    var listingCount = 0

    mutating func nextTicket() -> CommitTicket {
      newest += 1
      return CommitTicket(number: newest)
    }
  }

  let state = Guarded(State())

  func partition(
    named name: String, lossHandler: @escaping @Sendable ([RecordLoss]) -> Void
  ) throws(CisternError) -> any SecondTierPartition {
    state.withLock { $0.lossHandler = lossHandler }
    return SmallPartition(tier: self)
  }

  func flush() async throws(CisternError) {}

  func close() async throws(CisternError) { state.withLock { $0.mode = .closed } }

  var statistics: SecondTierStatistics {
    SecondTierStatistics(mode: state.withLock { $0.mode })
  }

  /// Removes the record of a key, and reports the loss.
  func lose(_ key: [UInt8]) {
    let handler = state.withLock { state in
      state.records[key] = nil
      return state.lossHandler
    }
    handler([RecordLoss(key: key, cause: .evicted)])
  }
}

private struct SmallPartition: SecondTierPartition {
  let tier: SmallTier

  func withRecord<Result>(
    forKey key: RawSpan, _ body: (RecordMetadata, RawSpan) throws -> Result
  ) rethrows -> Result? {
    let key = key.copiedBytes()
    let (found, duringRead) = tier.state.withLock { state in
      defer { state.duringRead = nil }
      state.readCount += 1
      return (state.mode == .active ? state.records[key] : nil, state.duringRead)
    }
    duringRead?()
    guard let record = found else { return nil }
    return try body(record.metadata, record.bytes.rawSpan)
  }

  func stage(_ write: StagedWrite) -> StagingResult {
    tier.state.withLock { state in
      if state.refuses(write) {
        state.records[write.key] = nil
        return .refused
      }
      switch write {
      case .record(let key, let metadata, let bytes): state.records[key] = (metadata, bytes)
      case .removal(let key): state.records[key] = nil
      }
      return .staged(state.nextTicket())
    }
  }

  func stageRemovalOfAll() -> CommitTicket {
    tier.state.withLock { state in
      state.records = [:]
      return state.nextTicket()
    }
  }

  func waitForCommit(_ ticket: CommitTicket) async throws(CisternError) {
    tier.state.withLock { $0.waitedFor.append(ticket) }
  }

  func forEachRecord(_ body: (_ key: RawSpan, RecordMetadata, _ size: Int) throws -> Bool) rethrows {
    let beforeListing = tier.state.withLock { state in
      defer { state.beforeListing = nil }
      state.listingCount += 1
      return state.beforeListing
    }
    beforeListing?()
    let (records, listsTwice) = tier.state.withLock { state in
      if state.closesAtListing { state.mode = .closed }
      return (state.mode == .active ? state.records : [:], state.listsTwice)
    }
    for (key, record) in Array(records) + (listsTwice ? Array(records) : []) {
      guard try body(key.rawSpan, record.metadata, record.bytes.count) else { return }
    }
  }

  var statistics: SecondTierStatistics { tier.statistics }
}

extension SmallTier {
  /// Opens a store over this tier, on a clock that stands still.
  func openStore(reportHandler: (@Sendable (StoreReport) -> Void)? = nil) throws -> Store {
    var configuration = Store.Configuration.ignoringMemoryPressure(clock: ManualClock())
    configuration.reportHandler = reportHandler
    return try Store(secondTier: self, memoryLimit: .mebibytes(1), configuration: configuration)
  }

  /// Opens a cache of this partition, in a store of its own without `store`.
  func openCache(of store: Store? = nil) throws -> Cache<String, Int> {
    try (store ?? openStore()).cache("p", of: Int.self, keyedBy: String.self)
  }
}
