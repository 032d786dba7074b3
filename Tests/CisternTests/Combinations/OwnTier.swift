import Cistern
import CisternTesting
import Locking

/// A second tier as a user writes it: with the public protocols alone, and without transactions.
///
/// One form implements all optional methods. It invalidates exactly, and loses records at any time. The other form
/// implements none of them, and loses records only between two writes.
final class OwnTier: TrialTier {
  struct Record: Sendable {
    let metadata: RecordMetadata
    let bytes: [UInt8]
    /// The ticket of the write.
    let ticket: CommitTicket
  }

  typealias Records = [[UInt8]: Record]

  struct Partition: Sendable {
    /// The records that reads find.
    var current: Records = [:]
    /// The records that survive a crash.
    var committed: Records = [:]
    /// The lost records whose loss the cache has not acknowledged.
    var lost: [[UInt8]: RecordMetadata] = [:]
    var losses: [RecordLoss] = []
    var lossHandler: @Sendable ([RecordLoss]) -> Void = { _ in }
  }

  struct State: Sendable {
    var partitions: [String: Partition] = [:]
    var staged: [(partition: String, change: @Sendable (inout Records) -> Void)] = []
    var newest = 1
    var waiters: [CheckedContinuation<Void, Never>] = []
    var afterLoad: (@Sendable ([UInt8]) -> Void)?
  }

  let isExact: Bool
  let state: Guarded<State>
  let room = Gate(isOpen: true)
  private let commitMode: FaultInjectingTier.CommitMode
  private let taskExecutor: (any TaskExecutor)?

  convenience init(
    isExact: Bool, commits: FaultInjectingTier.CommitMode, taskExecutor: (any TaskExecutor)?
  ) {
    self.init(isExact: isExact, State(), commits, taskExecutor)
  }

  private init(
    isExact: Bool, _ state: State, _ commitMode: FaultInjectingTier.CommitMode, _ taskExecutor: (any TaskExecutor)?
  ) {
    self.isExact = isExact
    self.state = Guarded(state)
    self.commitMode = commitMode
    self.taskExecutor = taskExecutor
  }

  // MARK: The tier

  func partition(
    named name: String, lossHandler: @escaping @Sendable ([RecordLoss]) -> Void
  ) throws(CisternError) -> any SecondTierPartition {
    state.withLock { $0.partitions[name, default: Partition()].lossHandler = lossHandler }
    let partition = OwnPartition(tier: self, name: name)
    return isExact ? ExactPartition(base: partition) : partition
  }

  func flush() async throws(CisternError) { commitAll() }

  func close() async throws(CisternError) { commitAll() }

  var statistics: SecondTierStatistics { SecondTierStatistics() }

  // MARK: Commits

  /// Changes the records for readers at once, and for a restart at the commit. Returns the ticket of the commit.
  @discardableResult
  func stage(in name: String, _ change: @escaping @Sendable (inout Records, CommitTicket) -> Void) -> CommitTicket {
    let ticket = state.withLock { state in
      state.newest += 1
      let ticket = CommitTicket(number: UInt64(state.newest))
      change(&state.partitions[name]!.current, ticket)
      state.staged.append((name, { change(&$0, ticket) }))
      return ticket
    }
    if commitMode == .immediate { commitAll() }
    return ticket
  }

  func commitAll() {
    let waiters = state.withLock { state in
      for (name, change) in state.staged { change(&state.partitions[name]!.committed) }
      state.staged = []
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Waits for the next commit, if a write is staged. It commits all staged writes.
  func waitForCommit() async {
    await withCheckedContinuation { continuation in
      let isOver = state.withLock { state in
        if !state.staged.isEmpty { state.waiters.append(continuation) }
        return state.staged.isEmpty
      }
      if isOver { continuation.resume() }
    }
  }

  func afterCrash() -> any TrialTier {
    let partitions = state.withLock {
      $0.partitions.mapValues { Partition(current: $0.committed, committed: $0.committed) }
    }
    return OwnTier(isExact: isExact, State(partitions: partitions), commitMode, taskExecutor)
  }

  func committedBytes(of key: String, in partition: String) -> [UInt8]? {
    state.withLock { $0.partitions[partition]?.committed[Array(key.utf8)]?.bytes }
  }

  // MARK: Reads and losses

  func setAfterLoad(_ hook: (@Sendable ([UInt8]) -> Void)?) { state.withLock { $0.afterLoad = hook } }

  func evictRecord(of key: String, in name: String) {
    let key = Array(key.utf8)
    let isEvicted = state.withLock { state in
      guard let partition = state.partitions[name], let record = partition.current[key],
        partition.committed[key]?.ticket == record.ticket
      else { return false }
      state.partitions[name]!.current[key] = nil
      state.partitions[name]!.committed[key] = nil
      state.partitions[name]!.losses.append(
        RecordLoss(key: key, cause: .evicted, schemaVersion: record.metadata.schemaVersion))
      if isExact { state.partitions[name]!.lost[key] = record.metadata }
      return true
    }
    guard isEvicted else { return }
    // Without marks of lost records, no write may come between the loss and its report.
    if isExact { _ = Task(executorPreference: taskExecutor) { self.deliverLosses() } } else { deliverLosses() }
  }

  func deliverLosses() {
    let calls = state.withLock { state in
      state.partitions.keys.map { name in
        defer { state.partitions[name]!.losses = [] }
        return (state.partitions[name]!.lossHandler, state.partitions[name]!.losses)
      }
    }
    for (handler, losses) in calls where !losses.isEmpty { handler(losses) }
  }
}
