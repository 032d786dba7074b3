/// How far the writes, numbered in the order in which they were staged, have got. Pure: what it answers is for the
/// caller to act on, after unlocking.
struct CommitProgress: Sendable {
  /// Every write up to here was committed, or failed.
  private(set) var settled: UInt64 = 0
  /// Every write up to here was, and is on the device as far as the store promises.
  private(set) var durable: UInt64 = 0
  /// Who waits, and for what.
  private var waiters: [Waiter] = []
  /// The last failures: whoever asks late is still told.
  private var failures: [Failure] = []

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
    waiters.append(waiter)
    return nil
  }

  /// The writes up to `number` were committed, but for those of `failed`; with `error`, none was.
  mutating func settle(through number: UInt64, failed: [Failure] = [], error: CisternError? = nil) {
    failures += failed
    if let error, number > settled { failures.append(Failure(numbers: settled + 1...number, error: error)) }
    settled = max(settled, number)
    if failures.count > CommitProgress.rememberedFailures {
      failures.removeFirst(failures.count - CommitProgress.rememberedFailures)
    }
  }

  /// What is settled is on the device too, or failed; answers whom to wake.
  mutating func makeDurable() -> [Resumption] {
    let earlier = durable
    durable = settled
    let ready = waiters.filter { $0.number <= durable }
    guard !ready.isEmpty else { return [] }
    waiters.removeAll { $0.number <= durable }
    return ready.map { waiter in
      let error =
        waiter.countsEarlier
        ? failures.first { $0.numbers.upperBound > earlier && $0.numbers.lowerBound <= waiter.number }?.error
        : error(for: waiter.number)
      return Resumption(continuation: waiter.continuation, error: error)
    }
  }

  /// The store is closed, or useless: answers everyone who waits, with this error.
  mutating func fail(_ error: CisternError) -> [Resumption] {
    let all = waiters
    waiters = []
    return all.map { Resumption(continuation: $0.continuation, error: error) }
  }

  private func error(for number: UInt64) -> CisternError? {
    failures.last { $0.numbers.contains(number) }?.error
  }
}
