public import CisternCore
import Locking

/// A second tier in memory that injects faults: late or failed commits, refusals, evictions, damage, and pauses.
///
/// The tier keeps all guarantees of ``/Cistern/SecondTier``. A store over it behaves like a store over a failing
/// disk:
///
///     let disk = FaultInjectingTier(commits: .onDemand)
///     let store = try Store(secondTier: disk, memoryLimit: .mebibytes(1))
///     …
///     disk.failCommits(1, with: CisternError(.noSpace, "no space left", location: "test"))
///     try await store.flush()                    // throws
///
/// Every thread can use the tier. The tier creates no threads. On a ``SeededExecutor``, all its work is therefore
/// part of the schedule. It reports record losses in a task on its executor, or when the test calls
/// ``deliverLosses()``.
public final class FaultInjectingTier: SecondTier {
  /// The moment at which the tier commits staged writes.
  public enum CommitMode: Sendable {
    /// Immediately when they are staged.
    case immediate
    /// When the test calls ``FaultInjectingTier/commit(_:)``, or when a caller flushes the tier.
    case onDemand
  }

  /// The moment at which the tier reports record losses to the caches.
  public enum LossReporting: Sendable {
    /// Soon, in a task on the tier's executor.
    case soon
    /// When the test calls ``FaultInjectingTier/deliverLosses()``.
    case onDemand
  }

  struct State {
    var contents: TierContents
    var commitFailures: [CisternError] = []
    var losses: [TierContents.Losses] = []
    var waiters: [(ticket: CommitTicket, continuation: CheckedContinuation<Result<Void, CisternError>, Never>)] = []
    var recordLimit: Int?
    /// The newest ticket when the last flush began.
    var flushedTicket = CommitTicket.zero
    /// Whether the batch that just ended must be committed for a waiting flush.
    var isFlushing = false
    var sizeLimit: Int?
    var batchLimit: Int?
    var refusal: (@Sendable (StagedWrite) -> Bool)?
    var beforeLoad: (@Sendable (_ key: [UInt8]) -> Void)?
    var afterLoad: (@Sendable (_ key: [UInt8]) -> Void)?
    var beforeListing: (@Sendable () -> Void)?
  }

  let state: Guarded<State>
  let commitMode: CommitMode
  private let lossReporting: LossReporting
  private let taskExecutor: (any TaskExecutor)?

  /// The gate at which asynchronous writers wait for room. It is open until the test closes it.
  ///
  /// Synchronous writers never wait: they would block the only thread of a seeded schedule.
  public let room = Gate(isOpen: true)

  /// Creates an empty tier.
  ///
  /// - Parameters:
  ///   - commits: The moment at which the tier commits staged writes.
  ///   - losses: The moment at which the tier reports record losses.
  ///   - taskExecutor: The executor on which the tier reports record losses, or nil for the global pool.
  public convenience init(
    commits: CommitMode = .immediate, losses: LossReporting = .soon, taskExecutor: (any TaskExecutor)? = nil
  ) {
    self.init(contents: TierContents(), commits: commits, losses: losses, taskExecutor: taskExecutor)
  }

  private init(
    contents: TierContents, commits: CommitMode, losses: LossReporting, taskExecutor: (any TaskExecutor)?
  ) {
    state = Guarded(State(contents: contents))
    commitMode = commits
    lossReporting = losses
    self.taskExecutor = taskExecutor
  }

  /// Creates a tier with the state that a process finds after this process ends without a flush.
  ///
  /// The new tier has the committed records and invalidations of this tier. It has no staged writes.
  ///
  /// - Parameter taskExecutor: The executor on which the new tier reports record losses, or nil for the executor of
  ///   this tier.
  /// - Returns: The new tier.
  public func reopenedAfterCrash(taskExecutor: (any TaskExecutor)? = nil) -> FaultInjectingTier {
    FaultInjectingTier(
      contents: state.withLock { TierContents(committedOf: $0.contents) }, commits: commitMode,
      losses: lossReporting, taskExecutor: taskExecutor ?? self.taskExecutor)
  }

  /// Opens the partition with a name, or creates it. Equal names denote the same partition.
  ///
  /// - Parameters:
  ///   - name: The name of the partition.
  ///   - lossHandler: The handler of record losses. It replaces the partition's earlier handler.
  /// - Returns: The partition.
  /// - Throws: This implementation never throws.
  public func partition(
    named name: String, lossHandler: @escaping @Sendable ([RecordLoss]) -> Void
  ) throws(CisternError) -> any SecondTierPartition {
    state.withLock { $0.contents.partitions[name, default: .init(lossHandler: lossHandler)].lossHandler = lossHandler }
    return FaultInjectingPartition(tier: self, name: name)
  }

  /// Commits all staged writes, and waits for the end of open batches that contain some of them.
  ///
  /// - Throws: The error that the test injected with ``failCommits(_:with:)``.
  public func flush() async throws(CisternError) {
    // Nothing is left to commit, as in a store on disk.
    if state.withLock({ $0.contents.mode }) == .readOnly { return }
    let newest = state.withLock { state in
      state.flushedTicket = state.contents.newestTicket
      return state.flushedTicket
    }
    commit()
    try await waitForCommit(newest)
  }

  /// Flushes the tier, and closes it. Afterwards, every read is a miss, and the tier refuses every write.
  ///
  /// - Throws: The error of the flush. The tier is closed nevertheless.
  public func close() async throws(CisternError) {
    defer { setMode(.closed) }
    try await flush()
  }

  /// The sums of the statistics of all partitions.
  public var statistics: SecondTierStatistics {
    state.withLock { state in
      var sum = SecondTierStatistics()
      sum.mode = state.contents.mode
      sum.stagedCount = state.contents.stagedCount
      for partition in state.contents.partitions.values { sum.add(partition) }
      sum.occupiedBytes = sum.liveBytes
      sum.limitBytes = .max
      return sum
    }
  }

  package func waitForCommit(_ ticket: CommitTicket) async throws(CisternError) {
    if state.withLock({ $0.contents.mode }) == .readOnly {
      throw CisternError(.readOnly, "the tier is read-only", location: "waiting for a commit")
    }
    let outcome: Result<Void, CisternError> = await withCheckedContinuation { continuation in
      let outcome = state.withLock { state -> Result<Void, CisternError>? in
        if let outcome = state.contents.outcome(of: ticket) { return outcome }
        state.waiters.append((ticket, continuation))
        return nil
      }
      if let outcome { continuation.resume(returning: outcome) }
    }
    try outcome.get()
  }

  /// Commits the oldest staged writes, in the order in which they were staged.
  ///
  /// A commit never splits a batch. It takes more writes than `count` if it would end inside a batch. It ends
  /// before the first batch that is still open.
  ///
  /// If the test injected a failure (``failCommits(_:with:)``), the writes of this commit are lost. Their keys are
  /// then absent, and the tier reports record losses.
  ///
  /// - Parameter count: The number of writes to commit. By default, the tier commits all of them.
  public func commit(_ count: Int = .max) {
    let woken = state.withLock { state in state.commit(count) }
    for (continuation, outcome) in woken { continuation.resume(returning: outcome) }
    startLossReport()
  }

  func startLossReport() {
    guard lossReporting == .soon, state.withLock({ !$0.losses.isEmpty }) else { return }
    _ = Task(executorPreference: taskExecutor) { self.deliverLosses() }
  }

  /// Reports all record losses since the last report, on the calling thread. Use it with
  /// ``FaultInjectingTier/LossReporting/onDemand``.
  public func deliverLosses() {
    let calls = state.withLock { state in
      defer { state.losses = [] }
      return state.losses.map { (state.contents.partitions[$0.partition]!.lossHandler, $0.list.map(\.loss)) }
    }
    for (lossHandler, list) in calls { lossHandler(list) }
  }
}

extension FaultInjectingTier.State {
  /// Registers record losses that the tier has to report. A loss ends early if its key is written before the
  /// report.
  mutating func lose(_ losses: [TierContents.Losses]) {
    self.losses += losses
    for group in losses {
      for (loss, metadata) in group.list { contents.partitions[group.partition]!.lost[loss.key] = metadata }
    }
  }

  typealias Woken = [(CheckedContinuation<Result<Void, CisternError>, Never>, Result<Void, CisternError>)]

  mutating func commit(_ count: Int) -> Woken {
    guard contents.stagedCount > 0, count > 0, contents.mode != .readOnly else { return [] }
    let failure = commitFailures.isEmpty ? nil : commitFailures.removeFirst()
    lose(contents.commit(count, failure: failure, recordLimit: recordLimit))
    var woken: Woken = []
    for waiter in waiters {
      if let outcome = contents.outcome(of: waiter.ticket) { woken.append((waiter.continuation, outcome)) }
    }
    waiters.removeAll { contents.outcome(of: $0.ticket) != nil }
    return woken
  }
}
