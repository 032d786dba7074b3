import CisternTesting
import Synchronization

/// An origin that is unavailable 40 % of the time, and has single failures at other times. The seed determines the
/// times.
final class UnsteadyOrigin: Sendable {
  /// A single failure. A retry can succeed.
  struct Hiccup: Error {}
  /// The origin is unavailable.
  struct Down: Error {}

  /// The time in nanoseconds for which the state of the origin does not change.
  private static let period: UInt64 = 150_000_000

  private let seed: UInt64
  private let start = Ticks.now()
  private let requests = Atomic<Int>(0)

  init(seed: UInt64) {
    self.seed = seed
  }

  /// Waits some milliseconds, and returns or throws.
  func answer() async throws {
    var generator = SeededGenerator(seed: seed, index: requests.add(1, ordering: .relaxed).newValue)
    try await Task.sleep(for: .microseconds(generator.next(below: 6_000)))
    if isDown(at: Ticks.now()) { throw Down() }
    if generator.next(below: 8) == 0 { throw Hiccup() }
  }

  private func isDown(at time: UInt64) -> Bool {
    let period = Int((time - start) / Self.period)
    var generator = SeededGenerator(seed: ~seed, index: period)
    return generator.nextFraction() < 0.4
  }
}
