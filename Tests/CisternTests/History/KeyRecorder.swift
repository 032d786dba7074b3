import CisternTesting
import Locking
import Synchronization

/// The operations of all workers by key. The clock is relaxed, so that it orders no memory access of the workers.
final class KeyRecorder: Sendable {
  typealias Operation = TimedOperation<KeyModel.Operation>

  private let time = Atomic<UInt64>(0)
  private let lastValue = Atomic<Int>(0)
  // Each worker takes the lock once, at its end.
  private let all = Guarded<[String: [Operation]]>([:])
  private let leftLoads = Guarded<[LeftLoad]>([])

  func tick() -> UInt64 { time.add(1, ordering: .relaxed).newValue }

  func newValue() -> Int { lastValue.add(1, ordering: .relaxed).newValue }

  func add(_ log: [String: [Operation]]) {
    all.withLock { $0.merge(log, uniquingKeysWith: +) }
  }

  /// A load whose caller left. Its flight may have ended in any way.
  struct LeftLoad: Sendable {
    let key: String
    let value: Int
    let called: UInt64
    let fetch: FetchRecord
  }

  func add(_ load: LeftLoad) {
    leftLoads.withLock { $0.append(load) }
  }

  /// The operations by key. Call this only after all flights have ended.
  var histories: [String: [Operation]] {
    var histories = all.withLock { $0 }
    for load in leftLoads.withLock({ $0 }) {
      guard let began = load.fetch.began else { continue }
      histories[load.key, default: []] += [Operation(.left(load.value), called: load.called, returned: began)]
    }
    return histories
  }
}

/// The times at which a fetch began and ended, if it ran.
final class FetchRecord: Sendable {
  private let beginning = Atomic<UInt64>(0)
  private let end = Atomic<UInt64>(0)

  var began: UInt64? { time(beginning) }
  var ended: UInt64? { time(end) }

  func begin(at time: UInt64) { beginning.store(time, ordering: .relaxed) }
  func end(at time: UInt64) { end.store(time, ordering: .relaxed) }

  private func time(_ atomic: borrowing Atomic<UInt64>) -> UInt64? {
    let time = atomic.load(ordering: .relaxed)
    return time == 0 ? nil : time
  }
}
