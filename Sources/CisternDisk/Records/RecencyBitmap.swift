import CisternCore
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A bitmap of the records that were read or replaced since they took their place in the eviction order.
///
/// Each record has one bit, in memory only, so that a read never writes to disk. Any thread can set a bit. The
/// writer thread tests the bits, and clears a bit when it assigns the sequence number to a record.
///
/// The bitmap is a ring, indexed by the sequence number modulo the size. If more sequence numbers are in use than
/// the ring has bits, two records share a bit. The only effect is that a record can get a second chance without a
/// read.
@safe
final class RecencyBitmap: Sendable {
  private typealias Word = Atomic<UInt64>

  // Allocated once, never reallocated, and unmapped by `deinit`; every access to a word is atomic. If the
  // allocation fails, the pointer is nil: no record is ever marked, and eviction follows the write order alone.
  private nonisolated(unsafe) let words: UnsafeMutablePointer<Word>?
  private let mask: UInt64

  /// The number of bytes of the data file for each bit. Nearly all records are larger.
  static let bytesPerMark = 64

  /// Creates a ring of at least `capacity` bits, rounded up to a power of two, and at most 2²⁸ bits.
  ///
  /// The largest ring has 32 MiB, of which the system backs only the pages in use. A test passes false for
  /// `hasMemory` to simulate a failed allocation.
  init(capacity: Int, hasMemory: Bool = true) {
    let bits = min(max(capacity, 4096), 1 << 28).nextPowerOfTwo
    mask = UInt64(bits - 1)
    // `mmap` provides zeroed pages on first use, so opening a large store costs as much as opening a small one.
    // `calloc` clears recycled memory at once. Zero bytes are a valid `Atomic(0)`, and an `Atomic` needs no
    // deinitialization.
    let memory =
      hasMemory
      ? unsafe mmap(nil, bits / 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : unsafe MAP_FAILED
    let isThere = unsafe memory != MAP_FAILED
    unsafe words = isThere ? unsafe memory?.bindMemory(to: Word.self, capacity: bits / 64) : nil
  }

  deinit {
    if let words = unsafe words { unsafe munmap(words, Int((mask + 1) / 8)) }
  }

  /// Marks the record as read.
  @inline(__always)
  func mark(_ sequence: SequenceNumber) {
    guard let words = unsafe words else { return }
    let (index, bit) = place(sequence)
    // The mask keeps the index in bounds. The load avoids a write, which would take the cache line from other
    // threads.
    if unsafe words[index].load(ordering: .relaxed) & bit == 0 {
      _ = unsafe words[index].bitwiseOr(bit, ordering: .relaxed)
    }
  }

  /// Returns whether the record is marked as read.
  func isMarked(_ sequence: SequenceNumber) -> Bool {
    guard let words = unsafe words else { return false }
    let (index, bit) = place(sequence)
    // The mask keeps the index in bounds.
    return unsafe words[index].load(ordering: .relaxed) & bit != 0
  }

  /// Clears the mark of an earlier record with the same bit.
  func clear(_ sequence: SequenceNumber) {
    guard let words = unsafe words else { return }
    let (index, bit) = place(sequence)
    // The mask keeps the index in bounds.
    if unsafe words[index].load(ordering: .relaxed) & bit != 0 {
      _ = unsafe words[index].bitwiseAnd(~bit, ordering: .relaxed)
    }
  }

  @inline(__always)
  private func place(_ sequence: SequenceNumber) -> (index: Int, bit: UInt64) {
    (Int(truncatingIfNeeded: (sequence.number & mask) >> 6), 1 << (sequence.number & 63))
  }
}

extension Int {
  /// The smallest power of two that is not less than the number, for numbers from 1 to 2⁶².
  fileprivate var nextPowerOfTwo: Int {
    self <= 1 ? 1 : 1 << (Int.bitWidth - (self - 1).leadingZeroBitCount)
  }
}
