import CisternCore

/// The commit progress of staged writes, which are numbered in staging order.
///
/// This type is pure. The caller resumes the returned waiters after it releases the lock.
struct CommitProgress: Sendable {
  /// Every write up to this ticket was committed or failed.
  private(set) var settled = CommitTicket.zero
  /// Every write up to this ticket was committed or failed, and the commits are as durable as the store promises.
  private(set) var durable = CommitTicket.zero
  /// The waiters, each with the newest failure before it began to wait.
  private var waiters: [(waiter: Waiter, since: FailureNumber)] = []
  /// The newest failures, each with its number.
  ///
  /// They are kept so that a caller that waits for a single write late still gets its error.
  private(set) var failures: [(number: FailureNumber, failure: Failure)] = []
  private var newestFailure = FailureNumber.zero
  /// The number of failures that the last call of ``note(_:through:error:)`` has recorded.
  private var newestCount = 0

  /// The number of failures to keep. The failures of the newest commit group are kept in any number.
  private static let rememberedFailures = 4096

  /// The place of a failure among all failures, from 1 on.
  struct FailureNumber: Sendable, Comparable {
    private let number: UInt64

    /// The number before that of the first failure.
    static let zero = FailureNumber(number: 0)

    /// Returns the number of the next failure.
    func next() -> FailureNumber { FailureNumber(number: number + 1) }

    static func < (left: FailureNumber, right: FailureNumber) -> Bool { left.number < right.number }
  }

  struct Waiter: Sendable {
    let ticket: CommitTicket
    /// Whether the waiter waits for every write up to the ticket, and not only for that one.
    let includesEarlier: Bool
    let continuation: CheckedContinuation<CisternError?, Never>
  }

  struct Failure: Sendable {
    let tickets: ClosedRange<CommitTicket>
    let error: CisternError

    fileprivate func hasError(of other: Failure) -> Bool {
      error.code == other.error.code && error.message == other.error.message && error.location == other.error.location
    }
  }

  /// A waiter to resume, and its result.
  struct Resumption: Sendable {
    let continuation: CheckedContinuation<CisternError?, Never>
    let error: CisternError?

    func resume() { continuation.resume(returning: error) }
  }

  /// Whether a caller waits for writes that are not durable yet.
  var isAwaited: Bool { !waiters.isEmpty }

  /// Adds a waiter. Returns its resumption if the result is known already, and nil otherwise.
  ///
  /// A waiter for every write up to a ticket gets only the failures that happen while it waits.
  mutating func wait(_ waiter: Waiter) -> Resumption? {
    if isDurable(waiter.ticket) {
      let error = waiter.includesEarlier ? nil : failure(of: waiter.ticket)
      return Resumption(continuation: waiter.continuation, error: error)
    }
    waiters.append((waiter, newestFailure))
    return nil
  }

  /// Records failed writes. With `error`, every write up to `ticket` that is not settled failed.
  ///
  /// Call this method before other threads can see that the disk fails. A caller that begins to wait afterwards
  /// waits for later writes, and these failures do not concern it.
  mutating func note(_ failed: [Failure], through ticket: CommitTicket, error: CisternError?) {
    let before = failures.count
    for failure in CommitProgress.joined(failed) { note(failure) }
    if let error, ticket > settled { note(Failure(tickets: settled.next()...ticket, error: error)) }
    if failures.count > before { newestCount = failures.count - before }
  }

  private mutating func note(_ failure: Failure) {
    newestFailure = newestFailure.next()
    failures.append((newestFailure, failure))
  }

  /// Returns the failures with one element for consecutive tickets that have the same error.
  private static func joined(_ failures: [Failure]) -> [Failure] {
    var joined: [Failure] = []
    for next in failures.sorted(by: { $0.tickets.lowerBound < $1.tickets.lowerBound }) {
      guard let last = joined.last, next.tickets.lowerBound <= last.tickets.upperBound.next(), last.hasError(of: next)
      else {
        joined.append(next)
        continue
      }
      let end = max(last.tickets.upperBound, next.tickets.upperBound)
      joined[joined.count - 1] = Failure(tickets: last.tickets.lowerBound...end, error: last.error)
    }
    return joined
  }

  /// Settles the writes up to `ticket`: they were committed, or their failure is recorded.
  mutating func settle(through ticket: CommitTicket) {
    settled = max(settled, ticket)
    if waiters.isEmpty { forgetOldFailures() }
  }

  /// Forgets the oldest failures. A waiter of this moment must not need them.
  private mutating func forgetOldFailures() {
    let excess = failures.count - max(CommitProgress.rememberedFailures, newestCount)
    if excess > 0 { failures.removeFirst(excess) }
  }

  /// Whether commits wait to be as durable as the store promises.
  var hasUnsynchronizedCommits: Bool { durable < settled }

  /// Records a failure of every settled write that is not durable, because the commits could not be written through.
  ///
  /// A caller that waits for one of these writes late gets this failure, too.
  mutating func noteNotSynchronized(_ error: CisternError) {
    guard hasUnsynchronizedCommits else { return }
    note(Failure(tickets: durable.next()...settled, error: error))
  }

  /// Marks every settled write as durable, and leaves its waiters for ``makeDurable()``.
  mutating func noteSynchronized() { durable = settled }

  /// Marks every settled write as durable. Returns the waiters to resume.
  mutating func makeDurable() -> [Resumption] {
    noteSynchronized()
    // The results of the waiters below depend on the failures.
    defer { forgetOldFailures() }
    let ready = waiters.filter { $0.waiter.ticket <= durable }
    guard !ready.isEmpty else { return [] }
    waiters.removeAll { $0.waiter.ticket <= durable }
    return ready.map { waiter, since in
      let error =
        waiter.includesEarlier
        ? failures.first { $0.number > since && $0.failure.tickets.lowerBound <= waiter.ticket }?.failure.error
        : failure(of: waiter.ticket)
      return Resumption(continuation: waiter.continuation, error: error)
    }
  }

  /// Removes all waiters, because the store is closed or cannot be used. Returns them, to be resumed with `error`.
  mutating func fail(_ error: CisternError) -> [Resumption] {
    let all = waiters
    waiters = []
    return all.map { Resumption(continuation: $0.waiter.continuation, error: error) }
  }

  /// Whether a write was committed or failed, and its commit is as durable as the store promises.
  func isDurable(_ ticket: CommitTicket) -> Bool { ticket <= durable }

  /// The error of a write that failed; nil for another one.
  func failure(of ticket: CommitTicket) -> CisternError? {
    // The first failure is that of the write itself, and a later one that of its group.
    failures.first { $0.failure.tickets.contains(ticket) }?.failure.error
  }
}
