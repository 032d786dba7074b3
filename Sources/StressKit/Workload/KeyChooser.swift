import Synchronization

/// Chooses the keys of a run's operations: by popularity, or as a trace has them.
final class KeyChooser: Sendable {
  private enum Source: Sendable {
    /// Ranks by popularity, and the key of each rank.
    case zipf(Zipf, keys: [Int32])
    case trace([Int32])
  }

  private let source: Source
  /// The place in the trace, which all clients share.
  private let position = Atomic<Int>(0)

  /// Popularity by Zipf's law. Which keys are the popular ones is the seed's choice.
  init(keyCount: Int, exponent: Double, seed: UInt64) {
    var generator = SplitMix64(seed: seed, index: -1)
    let keys = (0..<Int32(keyCount)).shuffled(using: &generator)
    source = .zipf(Zipf(count: keyCount, exponent: exponent), keys: keys)
  }

  /// The requests of a trace in order, from the front again after the last.
  init(trace: Trace) {
    source = .trace(trace.requests)
  }

  func next(using generator: inout SplitMix64) -> Int {
    switch source {
    case .zipf(let zipf, let keys):
      Int(keys[zipf.next(using: &generator)])
    case .trace(let requests):
      Int(requests[position.wrappingAdd(1, ordering: .relaxed).oldValue % requests.count])
    }
  }
}
