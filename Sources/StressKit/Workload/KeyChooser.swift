import CisternTesting
import Synchronization

/// The choice of keys for the operations of a run: by popularity, or from a trace.
final class KeyChooser: Sendable {
  private enum Source: Sendable {
    /// The distribution of ranks, and the key of each rank.
    case zipf(Zipf, keys: [Int32])
    case trace([Int32])
  }

  private let source: Source
  /// The position in the trace. All clients share it.
  private let position = Atomic<Int>(0)

  /// Creates a chooser with popularity by Zipf's law. The seed determines the popular keys.
  init(keyCount: Int, exponent: Double, seed: UInt64) {
    var generator = SeededGenerator(seed: seed, index: -1)
    let keys = (0..<Int32(keyCount)).shuffled(using: &generator)
    source = .zipf(Zipf(count: keyCount, exponent: exponent), keys: keys)
  }

  /// Creates a chooser that repeats the requests of a trace in order.
  init(trace: Trace) {
    source = .trace(trace.requests)
  }

  func next(using generator: inout SeededGenerator) -> Int {
    switch source {
    case .zipf(let zipf, let keys):
      Int(keys[zipf.next(using: &generator)])
    case .trace(let requests):
      Int(requests[position.wrappingAdd(1, ordering: .relaxed).oldValue % requests.count])
    }
  }
}
