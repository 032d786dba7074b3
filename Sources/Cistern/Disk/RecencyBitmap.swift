import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Which records were read since they were written, or since they were last passed over: one bit each, in memory only,
/// so that a read never writes to disk. Any thread marks; the writer thread tests, and clears a number's mark when it gives
/// the number out.
///
/// A ring: the bit of a sequence number is at its remainder. Where more numbers are in use than the ring has bits, two
/// records share one, and a record may get a second turn that it did not earn; nothing else comes of it.
@safe
final class RecencyBitmap: Sendable {
  private typealias Word = Atomic<UInt64>

  // Allocated once, never reallocated, freed with the object; every access to a word is atomic. Nil where there was no
  // memory: then nothing is ever marked, and eviction goes by age alone.
  private nonisolated(unsafe) let words: UnsafeMutablePointer<Word>?
  private let mask: UInt64

  /// Creates a ring of at least `capacity` bits, and at most 2²⁸: 32 MiB, of which the system only backs what is used.
  /// Without memory, which a test may ask for, it has none.
  init(capacity: Int, hasMemory: Bool = true) {
    let bits = min(max(capacity, 4096), 1 << 28).nextPowerOfTwo
    mask = UInt64(bits - 1)
    // Zeroed by the system page by page, when it is first used: opening a large store costs what a small one does. Not
    // so by `calloc`, which clears all of what it had before. An atomic number of zero is eight zero bytes, and is never
    // deinitialised.
    let memory =
      hasMemory
      ? unsafe mmap(nil, bits / 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : unsafe MAP_FAILED
    let isThere = unsafe memory != MAP_FAILED
    unsafe words = isThere ? unsafe memory?.bindMemory(to: Word.self, capacity: bits / 64) : nil
  }

  deinit {
    if let words = unsafe words { unsafe munmap(words, Int((mask + 1) / 8)) }
  }

  /// Notes that the record was read.
  @inline(__always)
  func mark(_ sequence: UInt64) {
    guard let words = unsafe words else { return }
    let (index, bit) = place(sequence)
    // In bounds by the mask. Looked at first: a write would take the cache line from the other threads each time.
    if unsafe words[index].load(ordering: .relaxed) & bit == 0 {
      _ = unsafe words[index].bitwiseOr(bit, ordering: .relaxed)
    }
  }

  /// Whether the record is marked.
  func isMarked(_ sequence: UInt64) -> Bool {
    guard let words = unsafe words else { return false }
    let (index, bit) = place(sequence)
    // In bounds by the mask.
    return unsafe words[index].load(ordering: .relaxed) & bit != 0
  }

  /// Forgets that an earlier record with this place was read.
  func clear(_ sequence: UInt64) {
    guard let words = unsafe words else { return }
    let (index, bit) = place(sequence)
    // In bounds by the mask.
    if unsafe words[index].load(ordering: .relaxed) & bit != 0 {
      _ = unsafe words[index].bitwiseAnd(~bit, ordering: .relaxed)
    }
  }

  @inline(__always)
  private func place(_ sequence: UInt64) -> (index: Int, bit: UInt64) {
    (Int(truncatingIfNeeded: (sequence & mask) >> 6), 1 << (sequence & 63))
  }
}

extension Int {
  /// The least power of two that is not less; for numbers from 1 to 2⁶².
  fileprivate var nextPowerOfTwo: Int {
    self <= 1 ? 1 : 1 << (Int.bitWidth - (self - 1).leadingZeroBitCount)
  }
}
