import Synchronization

/// One number per thread.
final class Counts: Sendable {
  private let numbers: Mutex<[Int]>

  init(_ threads: Int) {
    numbers = Mutex(Array(repeating: 0, count: threads))
  }

  func set(_ number: Int, of thread: Int) { numbers.withLock { $0[thread] = number } }
  var sum: Int { numbers.withLock { $0.reduce(0, +) } }
}
