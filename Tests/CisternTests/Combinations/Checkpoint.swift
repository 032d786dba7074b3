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
  /// Opens at the end of the interruption.
  private let completion = Gate()
  private let progress = Guarded(Progress())

  private struct Progress {
    /// Whether the operation has reached the point.
    var isSpent = false
    /// Whether the operation has ended.
    var isOver = false
  }

  init(_ point: SuspensionPoint, _ interruption: Interruption) {
    self.point = point
    self.interruption = interruption
  }

  /// Whether the operation has reached the point.
  var wasReached: Bool { progress.withLock { $0.isSpent } }

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
    completion.open()
    arrival.open()
  }

  /// Marks that the operation is at a point that does not allow suspension, and interrupts it there.
  func passAtOnce(_ point: SuspensionPoint) {
    guard case .runAtOnce(let body) = interruption, take(point) else { return }
    body()
    completion.open()
  }

  /// Marks the end of the operation, and releases the trial even if the operation never reached the point.
  func end() {
    progress.withLock { $0.isOver = true }
    arrival.open()
  }

  var hasEnded: Bool { progress.withLock { $0.isOver } }

  /// Waits until the operation waits at the point or has ended.
  func waitForArrival() async { await arrival.passUncancelled() }

  /// Waits until the interruption has ended, if it has begun.
  ///
  /// An operation that returns a stale value can end while its fetch, which the interruption is a part of, continues.
  func waitForInterruption() async {
    if wasReached { await completion.passUncancelled() }
  }

  /// Resumes the operation.
  func release() { departure.open() }

  private func take(_ point: SuspensionPoint) -> Bool {
    guard point == self.point else { return false }
    return progress.withLock { progress in
      guard !progress.isOver, !progress.isSpent else { return false }
      progress.isSpent = true
      return true
    }
  }
}
