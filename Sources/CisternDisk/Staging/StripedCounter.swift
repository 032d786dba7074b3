import CisternCore
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A counter that many threads increment without contention. Each thread adds to one of several stripes, chosen by
/// its identifier.
@safe
final class StripedCounter: Sendable {
  private static let stripes = 8
  // The number of words between stripes: two cache lines, because processors prefetch lines in pairs.
  private static let stride = 16

  // Allocated once, and freed by `deinit`; every access to a word is atomic.
  private nonisolated(unsafe) let words: UnsafeMutablePointer<Atomic<Int>>

  init() {
    let count = StripedCounter.stripes * StripedCounter.stride
    unsafe words = .allocate(capacity: count)
    for index in 0..<count { unsafe (words + index).initialize(to: Atomic(0)) }
  }

  deinit {
    // `Atomic` needs no deinitialization.
    unsafe words.deallocate()
  }

  @inline(__always)
  func increment() {
    #if canImport(Darwin)
      let thread = UInt64(UInt(bitPattern: pthread_self()))
    #else
      let thread = UInt64(pthread_self())
    #endif
    let stripe = Int(truncatingIfNeeded: (thread &* 0x9e37_79b9_7f4a_7c15) >> 61)
    // In bounds: the index has three bits, and the counter has eight stripes.
    unsafe words[stripe &* StripedCounter.stride].wrappingAdd(1, ordering: .relaxed)
  }

  /// The sum of all stripes. Concurrent increments may or may not be included.
  var value: Int {
    var sum = 0
    for stripe in 0..<StripedCounter.stripes {
      sum += unsafe words[stripe * StripedCounter.stride].load(ordering: .relaxed)
    }
    return sum
  }
}
