public import Cistern
import Locking

/// A second tier in memory that does what a test tells it to: commit now or later, fail, refuse, evict, damage, pause.
///
/// It keeps to everything that ``/Cistern/SecondTier`` promises, so that a store over it behaves as one over a disk on a
/// bad day:
///
///     let disk = FaultInjectingTier(commits: .onDemand)
///     let store = try Store(secondTier: disk, memoryLimit: .mebibytes(1))
///     …
///     disk.failCommits(1, with: CisternError(.noSpace, "no space left", location: "test"))
///     try await store.flush()                    // throws
///
/// Safe from every thread, and has none of its own: on a ``SeededExecutor`` all that it does is part of the schedule. It
/// tells of departures in a task on the executor that it was given, or when the test says so.
public final class FaultInjectingTier: SecondTier {
  /// When staged writes are committed.
  public enum CommitMode: Sendable {
    /// At once.
    case immediate
    /// When the test calls ``FaultInjectingTier/commit(_:)``, or someone flushes.
    case onDemand
  }

  /// When departures are told of.
  public enum DepartureMode: Sendable {
    /// Soon, in a task on the tier's executor.
    case soon
    /// When the test calls ``FaultInjectingTier/deliverDepartures()``.
    case onDemand
  }

  struct State {
    var contents: TierContents
    var commitFailures: [CisternError] = []
    var departures: [TierContents.Departures] = []
    var waiters: [(ticket: UInt64, continuation: CheckedContinuation<Result<Void, CisternError>, Never>)] = []
    var recordLimit: Int?
    /// The newest ticket that someone flushed up to, and whether a commit is due for it.
    var flushedTicket: UInt64 = 0
    var isFlushing = false
    var sizeLimit: Int?
    var batchLimit: Int?
    var refusal: (@Sendable (StagedWrite) -> Bool)?
    var afterLoad: (@Sendable (_ key: [UInt8]) -> Void)?
  }

  let state: Guarded<State>
  let commitMode: CommitMode
  private let departureMode: DepartureMode
  private let taskExecutor: (any TaskExecutor)?

  /// Where asynchronous writers wait for room: open, until the test closes it. (Synchronous ones are never kept: they
  /// would block the only thread of a seeded schedule.)
  public let room = Gate(isOpen: true)

  /// Creates an empty tier.
  ///
  /// - Parameters:
  ///   - commits: When staged writes are committed.
  ///   - departures: When departures are told of.
  ///   - taskExecutor: Where departures are told of; nil for the global pool.
  public convenience init(
    commits: CommitMode = .immediate, departures: DepartureMode = .soon, taskExecutor: (any TaskExecutor)? = nil
  ) {
    self.init(contents: TierContents(), commits: commits, departures: departures, taskExecutor: taskExecutor)
  }

  private init(
    contents: TierContents, commits: CommitMode, departures: DepartureMode, taskExecutor: (any TaskExecutor)?
  ) {
    state = Guarded(State(contents: contents))
    commitMode = commits
    departureMode = departures
    self.taskExecutor = taskExecutor
  }

  /// A tier as another process would find it if this one died now: what is committed, and nothing that is staged.
  public func reopenedAfterCrash(taskExecutor: (any TaskExecutor)? = nil) -> FaultInjectingTier {
    FaultInjectingTier(
      contents: state.withLock { TierContents(committedOf: $0.contents) }, commits: commitMode,
      departures: departureMode, taskExecutor: taskExecutor ?? self.taskExecutor)
  }

  /// Opens the partition of this name; the same contents for the same name.
  public func partition(
    named name: String, departure: @escaping @Sendable ([Departure]) -> Void
  ) throws(CisternError) -> any SecondTierPartition {
    state.withLock { $0.contents.partitions[name, default: .init(departure: departure)].departure = departure }
    return FaultInjectingPartition(tier: self, name: name)
  }

  /// Commits everything staged; throws what the test told the commit to fail with.
  public func flush() async throws(CisternError) {
    let newest = state.withLock { state in
      state.flushedTicket = state.contents.newestTicket
      return state.flushedTicket
    }
    commit()
    try await waitForCommit(CommitTicket(number: newest))
  }

  /// Flushes; from then on every read misses and every write is refused.
  public func close() async throws(CisternError) {
    defer { setMode(.closed) }
    try await flush()
  }

  /// The sums over all partitions.
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

  func waitForCommit(_ ticket: CommitTicket) async throws(CisternError) {
    let outcome: Result<Void, CisternError> = await withCheckedContinuation { continuation in
      let outcome = state.withLock { state -> Result<Void, CisternError>? in
        if let outcome = state.contents.outcome(of: ticket.number) { return outcome }
        state.waiters.append((ticket.number, continuation))
        return nil
      }
      if let outcome { continuation.resume(returning: outcome) }
    }
    try outcome.get()
  }

  /// Commits the oldest staged writes, all by default, in the order in which they were staged, in one batch.
  ///
  /// If the test told it to fail (``failCommits(_:with:)``) the batch is lost: its keys read as absent, and depart.
  public func commit(_ count: Int = .max) {
    let woken = state.withLock { state in state.commit(count) }
    for (continuation, outcome) in woken { continuation.resume(returning: outcome) }
    tellOfDepartures()
  }

  func tellOfDepartures() {
    guard departureMode == .soon, state.withLock({ !$0.departures.isEmpty }) else { return }
    _ = Task(executorPreference: taskExecutor) { self.deliverDepartures() }
  }

  /// Tells of the departures so far, on the calling thread, where that was left to the test.
  public func deliverDepartures() {
    let calls = state.withLock { state in
      defer { state.departures = [] }
      return state.departures.map { (state.contents.partitions[$0.partition]!.departure, $0.list.map(\.departure)) }
    }
    for (departure, list) in calls { departure(list) }
  }
}

extension FaultInjectingTier.State {
  /// Keys have left: the cache is to be told, unless they are written before.
  mutating func depart(_ departures: [TierContents.Departures]) {
    self.departures += departures
    for departure in departures {
      for (departed, metadata) in departure.list {
        contents.partitions[departure.partition]!.departing[departed.key] = metadata
      }
    }
  }

  typealias Woken = [(CheckedContinuation<Result<Void, CisternError>, Never>, Result<Void, CisternError>)]

  mutating func commit(_ count: Int) -> Woken {
    guard contents.stagedCount > 0, count > 0 else { return [] }
    let failure = commitFailures.isEmpty ? nil : commitFailures.removeFirst()
    depart(contents.commit(count, failure: failure, recordLimit: recordLimit))
    var woken: Woken = []
    for waiter in waiters {
      if let outcome = contents.outcome(of: waiter.ticket) { woken.append((waiter.continuation, outcome)) }
    }
    waiters.removeAll { contents.outcome(of: $0.ticket) != nil }
    return woken
  }
}
