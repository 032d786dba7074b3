import Synchronization

/// The eviction priorities of a table's shards: the hit density of the entry that each shard would probably evict
/// next.
///
/// Shards compare them without each other's locks. A shard makes room in itself for its new entries. Without the
/// comparison, it would therefore keep too large a share of memory, for example after it took in a few large entries.
@safe
@usableFromInline
final class ShardPriorities: Sendable {
  // The memory is allocated by `init` and freed by `deinit`, and every access is atomic. The elements are bit
  // patterns of nonnegative floating-point numbers, which have the same order as the numbers.
  private nonisolated(unsafe) let bits: UnsafeMutablePointer<Atomic<UInt32>>
  private let count: Int

  init(count: Int) {
    self.count = count
    unsafe bits = .allocate(capacity: count)
    for index in 0..<count { unsafe (bits + index).initialize(to: Atomic(Float.infinity.bitPattern)) }
  }

  deinit {
    // Atomic integers need no deinitialization.
    unsafe bits.deallocate()
  }

  /// The hit density of the entry that a shard would probably evict next; infinite if the shard stored none.
  subscript(index: Int) -> Float {
    precondition(index >= 0 && index < count)
    return Float(bitPattern: unsafe bits[index].load(ordering: .relaxed))
  }

  /// Stores the density of a shard. Called inside the shard's critical section.
  @usableFromInline
  func note(_ density: Float?, of index: Int) {
    precondition(index >= 0 && index < count)
    guard let density else { return }
    let new = density.bitPattern
    if unsafe bits[index].load(ordering: .relaxed) != new { unsafe bits[index].store(new, ordering: .relaxed) }
  }

  /// Returns a shard whose next entry has less than half of this density; nil if the compared shard does not.
  ///
  /// Each call compares one other shard. Successive values of `rotation` cover all other shards.
  ///
  /// - Parameter rotation: A number that rises with each call.
  @usableFromInline
  func worse(than density: Float?, of index: Int, rotation: UInt32) -> Int? {
    guard let density, count > 1 else { return nil }
    // A division of 32-bit numbers is faster.
    let next = index + 1 + Int(rotation % UInt32(count - 1))
    let other = next < count ? next : next - count
    return self[other] * 2 < density ? other : nil
  }
}
