import CisternTesting
import Locking

/// Stops an operation once, at one of its suspension points, for the other operation of a combination.
final class Checkpoint: Sendable {
  /// What happens when the operation arrives.
  enum Interruption: Sendable {
    /// The operation waits, until the trial releases it.
    case wait
    /// The operation itself runs this first.
    case run(@Sendable () async -> Void)
    /// The same, where nothing can be awaited.
    case runAtOnce(@Sendable () -> Void)
  }

  let point: SuspensionPoint
  private let interruption: Interruption
  private let arrival = Gate()
  private let departure = Gate()
  // Set by the first arrival.
  private let isSpent = Guarded(false)
  private let isOver = Guarded(false)

  init(_ point: SuspensionPoint, _ interruption: Interruption) {
    self.point = point
    self.interruption = interruption
  }

  /// Whether the operation has come to the point.
  var wasReached: Bool { isSpent.withLock { $0 } }

  /// The operation is at a point where it can wait.
  func pass(_ point: SuspensionPoint) async {
    guard take(point) else { return }
    switch interruption {
    case .wait:
      arrival.open()
      await departure.passUncancelled()
    case .run(let body): await body()
    case .runAtOnce(let body): body()
    }
    arrival.open()
  }

  /// The operation is at a point where it cannot wait.
  func passAtOnce(_ point: SuspensionPoint) {
    guard case .runAtOnce(let body) = interruption, take(point) else { return }
    body()
  }

  /// The operation is at its end, whether it came to the point or not.
  func end() {
    isOver.withLock { $0 = true }
    arrival.open()
  }

  var hasEnded: Bool { isOver.withLock { $0 } }

  /// Returns when the operation waits at the point, or has ended.
  func waitForArrival() async { await arrival.passUncancelled() }

  /// Lets the operation go on.
  func release() { departure.open() }

  private func take(_ point: SuspensionPoint) -> Bool {
    guard point == self.point, !hasEnded else { return false }
    return isSpent.withLock { isSpent in
      defer { isSpent = true }
      return !isSpent
    }
  }
}
