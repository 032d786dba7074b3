import Synchronization

/// An origin that is down for two fifths of the time, and now and then fails without being down. When it does is the
/// seed's choice.
final class UnsteadyOrigin: Sendable {
  /// It failed once, and is worth another attempt.
  struct Hiccup: Error {}
  /// It is down.
  struct Down: Error {}

  /// How long it stays as it is, in nanoseconds.
  private static let period: UInt64 = 150_000_000

  private let seed: UInt64
  private let start = Ticks.now()
  private let requests = Atomic<Int>(0)

  init(seed: UInt64) {
    self.seed = seed
  }

  /// Takes some milliseconds, and succeeds or throws.
  func answer() async throws {
    var generator = SplitMix64(seed: seed, index: requests.add(1, ordering: .relaxed).newValue)
    try await Task.sleep(for: .microseconds(generator.index(below: 6_000)))
    if isDown(at: Ticks.now()) { throw Down() }
    if generator.index(below: 8) == 0 { throw Hiccup() }
  }

  private func isDown(at time: UInt64) -> Bool {
    let period = Int((time - start) / Self.period)
    var generator = SplitMix64(seed: ~seed, index: period)
    return generator.unit() < 0.4
  }
}
