import CisternCore

/// The commit progress of staged writes, which are numbered in staging order.
///
/// This type is pure. The caller resumes the returned waiters after it releases the lock.
struct CommitProgress: Sendable {
  /// Every write up to this ticket was committed or failed.
  private(set) var settled = CommitTicket.zero
  /// Every write up to this ticket was committed or failed, and the commits are as durable as the store promises.
  private(set) var durable = CommitTicket.zero
  /// The waiters, each with the number of failures before it began to wait.
  private var waiters: [(waiter: Waiter, since: UInt64)] = []
  /// The newest failures, each with its place among all failures.
  ///
  /// They are kept so that a caller that waits for a single write late still gets its error.
  private var failures: [(place: UInt64, failure: Failure)] = []
  private var failureCount: UInt64 = 0

  private static let rememberedFailures = 4096

  struct Waiter: Sendable {
    let ticket: CommitTicket
    /// Whether the waiter waits for every write up to the ticket, and not only for that one.
    let countsEarlier: Bool
    let continuation: CheckedContinuation<CisternError?, Never>
  }

  struct Failure: Sendable {
    let tickets: ClosedRange<CommitTicket>
    let error: CisternError
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
    if waiter.ticket <= durable {
      let error = waiter.countsEarlier ? nil : error(for: waiter.ticket)
      return Resumption(continuation: waiter.continuation, error: error)
    }
    waiters.append((waiter, failureCount))
    return nil
  }

  /// Records failed writes. With `error`, every write up to `ticket` that is not settled failed.
  ///
  /// Call this method before other threads can see that the disk fails. A caller that begins to wait afterwards
  /// waits for later writes, and these failures do not concern it.
  mutating func note(_ failed: [Failure], through ticket: CommitTicket, error: CisternError?) {
    for failure in failed { note(failure) }
    if let error, ticket > settled { note(Failure(tickets: settled.next()...ticket, error: error)) }
    if failures.count > CommitProgress.rememberedFailures {
      failures.removeFirst(failures.count - CommitProgress.rememberedFailures)
    }
  }

  private mutating func note(_ failure: Failure) {
    failureCount += 1
    failures.append((failureCount, failure))
  }

  /// Settles the writes up to `ticket`: they were committed, or their failure is recorded.
  mutating func settle(through ticket: CommitTicket) {
    settled = max(settled, ticket)
  }

  /// Marks every settled write as durable. Returns the waiters to resume.
  mutating func makeDurable() -> [Resumption] {
    durable = settled
    let ready = waiters.filter { $0.waiter.ticket <= durable }
    guard !ready.isEmpty else { return [] }
    waiters.removeAll { $0.waiter.ticket <= durable }
    return ready.map { waiter, since in
      let error =
        waiter.countsEarlier
        ? failures.first { $0.place > since && $0.failure.tickets.lowerBound <= waiter.ticket }?.failure.error
        : error(for: waiter.ticket)
      return Resumption(continuation: waiter.continuation, error: error)
    }
  }

  /// Removes all waiters, because the store is closed or cannot be used. Returns them, to be resumed with `error`.
  mutating func fail(_ error: CisternError) -> [Resumption] {
    let all = waiters
    waiters = []
    return all.map { Resumption(continuation: $0.waiter.continuation, error: error) }
  }

  private func error(for ticket: CommitTicket) -> CisternError? {
    failures.last { $0.failure.tickets.contains(ticket) }?.failure.error
  }
}
