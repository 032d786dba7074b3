import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A count that many threads raise without meeting: each adds to one of a few places, by its own number.
@safe
final class StripedCounter: Sendable {
  private static let stripes = 8
  // Words from one stripe to the next: two cache lines, since lines are fetched in pairs.
  private static let stride = 16

  // Allocated once, freed with the counter; every access is atomic.
  private nonisolated(unsafe) let words: UnsafeMutablePointer<Atomic<Int>>

  init() {
    let count = StripedCounter.stripes * StripedCounter.stride
    unsafe words = .allocate(capacity: count)
    for index in 0..<count { unsafe (words + index).initialize(to: Atomic(0)) }
  }

  deinit {
    // Atomic numbers are never deinitialised.
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
    // In bounds: three bits of eight stripes.
    unsafe words[stripe &* StripedCounter.stride].wrappingAdd(1, ordering: .relaxed)
  }

  /// The sum, as of about now.
  var value: Int {
    var sum = 0
    for stripe in 0..<StripedCounter.stripes {
      sum += unsafe words[stripe * StripedCounter.stride].load(ordering: .relaxed)
    }
    return sum
  }
}
