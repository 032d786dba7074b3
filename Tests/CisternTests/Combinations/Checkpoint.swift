import CisternTesting
import Locking

/// A checkpoint that interrupts the first operation of a combination once, at one of its suspension points.
final class Checkpoint: Sendable {
  /// The action when the operation reaches the point.
  enum Interruption: Sendable {
    /// The operation waits until the trial releases it.
    case wait
    /// The operation runs this closure before it continues.
    case run(@Sendable () async -> Void)
    /// The operation runs this synchronous closure at a point that does not allow suspension.
    case runAtOnce(@Sendable () -> Void)
  }

  let point: SuspensionPoint
  private let interruption: Interruption
  private let arrival = Gate()
  private let departure = Gate()
  // The first arrival sets this flag.
  private let isSpent = Guarded(false)
  private let isOver = Guarded(false)

  init(_ point: SuspensionPoint, _ interruption: Interruption) {
    self.point = point
    self.interruption = interruption
  }

  /// Whether the operation has reached the point.
  var wasReached: Bool { isSpent.withLock { $0 } }

  /// Marks that the operation is at a point that allows suspension, and interrupts it there.
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

  /// Marks that the operation is at a point that does not allow suspension, and interrupts it there.
  func passAtOnce(_ point: SuspensionPoint) {
    guard case .runAtOnce(let body) = interruption, take(point) else { return }
    body()
  }

  /// Marks the end of the operation, and releases the trial even if the operation never reached the point.
  func end() {
    isOver.withLock { $0 = true }
    arrival.open()
  }

  var hasEnded: Bool { isOver.withLock { $0 } }

  /// Waits until the operation waits at the point or has ended.
  func waitForArrival() async { await arrival.passUncancelled() }

  /// Resumes the operation.
  func release() { departure.open() }

  private func take(_ point: SuspensionPoint) -> Bool {
    guard point == self.point, !hasEnded else { return false }
    return isSpent.withLock { isSpent in
      defer { isSpent = true }
      return !isSpent
    }
  }
}
