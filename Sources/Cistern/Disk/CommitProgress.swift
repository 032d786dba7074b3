/// How far the writes, numbered in the order in which they were staged, have got. Pure: what it answers is for the
/// caller to act on, after unlocking.
struct CommitProgress: Sendable {
  /// Every write up to here was committed, or failed.
  private(set) var settled: UInt64 = 0
  /// Every write up to here was, and is on the device as far as the store promises.
  private(set) var durable: UInt64 = 0
  /// Who waits, for what, and how many failures there had been when it came.
  private var waiters: [(waiter: Waiter, since: UInt64)] = []
  /// The last failures, by their place among all: whoever asks late for one write is still told.
  private var failures: [(place: UInt64, failure: Failure)] = []
  private var failureCount: UInt64 = 0

  private static let rememberedFailures = 4096

  struct Waiter: Sendable {
    let number: UInt64
    /// Every write up to the number counts, and not that one only.
    let countsEarlier: Bool
    let continuation: CheckedContinuation<CisternError?, Never>
  }

  struct Failure: Sendable {
    let numbers: ClosedRange<UInt64>
    let error: CisternError
  }

  /// Someone to wake, and what to tell.
  struct Resumption: Sendable {
    let continuation: CheckedContinuation<CisternError?, Never>
    let error: CisternError?

    func resume() { continuation.resume(returning: error) }
  }

  /// Whether anybody waits for what is not yet on the device.
  var isAwaited: Bool { !waiters.isEmpty }

  /// Answers at once where it can be known; nil where the waiter was put down, to be resumed.
  mutating func wait(_ waiter: Waiter) -> Resumption? {
    if waiter.number <= durable {
      let error = waiter.countsEarlier ? nil : error(for: waiter.number)
      return Resumption(continuation: waiter.continuation, error: error)
    }
    waiters.append((waiter, failureCount))
    return nil
  }

  /// These writes failed; with `error`, every one up to `number` that is not settled. Noted before anyone can see that the
  /// disk fails: who asks from then on, asks about what comes after.
  mutating func note(_ failed: [Failure], through number: UInt64, error: CisternError?) {
    for failure in failed { note(failure) }
    if let error, number > settled { note(Failure(numbers: settled + 1...number, error: error)) }
    if failures.count > CommitProgress.rememberedFailures {
      failures.removeFirst(failures.count - CommitProgress.rememberedFailures)
    }
  }

  private mutating func note(_ failure: Failure) {
    failureCount += 1
    failures.append((failureCount, failure))
  }

  /// The writes up to `number` were committed, or failed, which was noted.
  mutating func settle(through number: UInt64) {
    settled = max(settled, number)
  }

  /// What is settled is on the device too, or failed; answers whom to wake.
  mutating func makeDurable() -> [Resumption] {
    durable = settled
    let ready = waiters.filter { $0.waiter.number <= durable }
    guard !ready.isEmpty else { return [] }
    waiters.removeAll { $0.waiter.number <= durable }
    return ready.map { waiter, since in
      let error =
        waiter.countsEarlier
        ? failures.first { $0.place > since && $0.failure.numbers.lowerBound <= waiter.number }?.failure.error
        : error(for: waiter.number)
      return Resumption(continuation: waiter.continuation, error: error)
    }
  }

  /// The store is closed, or useless: answers everyone who waits, with this error.
  mutating func fail(_ error: CisternError) -> [Resumption] {
    let all = waiters
    waiters = []
    return all.map { Resumption(continuation: $0.waiter.continuation, error: error) }
  }

  private func error(for number: UInt64) -> CisternError? {
    failures.last { $0.failure.numbers.contains(number) }?.failure.error
  }
}
