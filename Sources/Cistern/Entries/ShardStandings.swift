import Synchronization

/// What the entry that is likely to go next promises, of each shard of a table: so that shards can compare without each
/// other's locks.
///
/// Without it a shard that has come to hold more than its part keeps it: what a shard takes in makes room in that shard. Where sizes
/// differ the parts drift apart, and a few large entries take all of a shard's; misses were a tenth more.
@safe
@usableFromInline
final class ShardStandings: Sendable {
  // Allocated once, freed with the table; every access is atomic. The bits of numbers that are not negative: these order as
  // the numbers do.
  private nonisolated(unsafe) let bits: UnsafeMutablePointer<Atomic<UInt32>>
  private let count: Int

  init(count: Int) {
    self.count = count
    unsafe bits = .allocate(capacity: count)
    for index in 0..<count { unsafe (bits + index).initialize(to: Atomic(Float.infinity.bitPattern)) }
  }

  deinit {
    // Atomic numbers are never deinitialised.
    unsafe bits.deallocate()
  }

  subscript(index: Int) -> Float {
    precondition(index >= 0 && index < count)
    return Float(bitPattern: unsafe bits[index].load(ordering: .relaxed))
  }

  /// Notes a shard's own, inside its critical section.
  @usableFromInline
  func note(_ density: Float?, of index: Int) {
    precondition(index >= 0 && index < count)
    guard let density else { return }
    let new = density.bitPattern
    if unsafe bits[index].load(ordering: .relaxed) != new { unsafe bits[index].store(new, ordering: .relaxed) }
  }

  /// A shard whose next entry to go promises less than half of what this one's does; nil where the one that is asked about
  /// does not. One other a turn: in the course of some turns each.
  ///
  /// - Parameter turn: a number that rises.
  @usableFromInline
  func worse(than density: Float?, of index: Int, turn: UInt32) -> Int? {
    guard let density, count > 1 else { return nil }
    // Of 32 bits, which divide in half the time.
    let next = index + 1 + Int(turn % UInt32(count - 1))
    let other = next < count ? next : next - count
    return self[other] * 2 < density ? other : nil
  }
}
