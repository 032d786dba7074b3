import CisternTesting
import Locking
import Synchronization

/// What all workers saw, by key, on a clock that orders nothing but itself.
final class KeyRecorder: Sendable {
  typealias Operation = TimedOperation<KeyModel.Operation>

  private let time = Atomic<UInt64>(0)
  private let lastValue = Atomic<Int>(0)
  // Guarded by its lock; taken once a worker, at its end.
  private let all = Guarded<[String: [Operation]]>([:])
  private let departed = Guarded<[Departed]>([])

  func tick() -> UInt64 { time.add(1, ordering: .relaxed).newValue }

  func newValue() -> Int { lastValue.add(1, ordering: .relaxed).newValue }

  func add(_ log: [String: [Operation]]) {
    all.withLock { $0.merge(log, uniquingKeysWith: +) }
  }

  /// A load that left, and whose flight may have ended in any way.
  struct Departed: Sendable {
    let key: String
    let value: Int
    let called: UInt64
    let fetch: FetchRecord
  }

  func add(_ load: Departed) {
    departed.withLock { $0.append(load) }
  }

  /// All, once nothing is under way any more.
  var histories: [String: [Operation]] {
    var histories = all.withLock { $0 }
    for load in departed.withLock({ $0 }) {
      guard let began = load.fetch.began else { continue }
      histories[load.key, default: []] += [Operation(.left(load.value), called: load.called, returned: began)]
    }
    return histories
  }
}

/// What a fetch knows of itself: whether it ran, and when.
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
