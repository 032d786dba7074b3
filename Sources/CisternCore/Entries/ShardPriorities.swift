import Synchronization

/// The eviction priorities of a table's shards: the hit density of the entry that each shard would probably evict
/// next.
///
/// Shards compare them without each other's locks. A shard makes room in itself for its new entries. Without the
/// comparison, it would therefore keep too large a share of memory, for example after it took in a few large entries.
///
/// The densities are the leaves of a tree in which each node has the least density of its four children. A search
/// reads only the root, and a shard usually writes only its leaf. If two shards store at once, a node can keep an
/// outdated density until that shard stores again. The densities are only hints: a shard that is chosen
/// compares its entry again.
@safe
@usableFromInline
final class ShardPriorities: Sendable {
  // The memory is allocated by `init` and freed by `deinit`, and every access is atomic. A node has the upper 24 bits
  // of a nonnegative floating-point number, which have the same order as the numbers, and the index of its shard.
  private nonisolated(unsafe) let nodes: UnsafeMutablePointer<Atomic<UInt32>>
  private let count: Int
  /// The index of the first leaf. The children of a node follow each other: those of node n begin at 4n + 1.
  private let firstLeaf: Int

  private static let indexBits: UInt32 = 0xFF
  /// A shard is chosen if its density is below the other one by more than this factor. A smaller difference does not
  /// outweigh the time of a second lock.
  private static let clearlyWorse: Float = 1.25

  init(count: Int) {
    precondition(count > 0 && count <= 256, "the index of a shard has eight bits")
    self.count = count
    var leaves = 1
    var firstLeaf = 0
    while leaves < count {
      firstLeaf += leaves
      leaves *= 4
    }
    self.firstLeaf = firstLeaf
    unsafe nodes = .allocate(capacity: firstLeaf + leaves)
    for node in 0..<firstLeaf + leaves {
      unsafe (nodes + node).initialize(to: Atomic(Float.infinity.bitPattern))
    }
  }

  deinit {
    // Atomic integers need no deinitialization.
    unsafe nodes.deallocate()
  }

  /// The hit density of the entry that a shard would probably evict next, ``rounded(_:)``; infinite if the shard stored
  /// none.
  subscript(index: Int) -> Float {
    precondition(index >= 0 && index < count)
    return Self.density(node(firstLeaf + index))
  }

  /// Returns a density with its eight lowest bits cleared, as a node stores it.
  static func rounded(_ density: Float) -> Float { Float(bitPattern: density.bitPattern & ~indexBits) }

  private static func density(_ node: UInt32) -> Float { Float(bitPattern: node & ~indexBits) }

  private func node(_ place: Int) -> UInt32 { unsafe nodes[place].load(ordering: .relaxed) }

  /// Stores the density of a shard. Called inside the shard's critical section.
  @usableFromInline
  func note(_ density: Float?, of index: Int) {
    precondition(index >= 0 && index < count)
    guard let density else { return }
    var place = firstLeaf + index
    var new = density.bitPattern & ~Self.indexBits | UInt32(truncatingIfNeeded: index)
    if node(place) != new { unsafe nodes[place].store(new, ordering: .relaxed) }
    while place > 0 {
      let first = (place - 1) & ~3
      place = first / 4
      let least = node(place)
      // A node changes if the new density is less, or if the node has an older density of this shard.
      let isOutdated = least & Self.indexBits == UInt32(truncatingIfNeeded: index) && least != new
      guard new < least || isOutdated else { return }
      if new > least {
        new = min(min(node(first + 1), node(first + 2)), min(node(first + 3), node(first + 4)))
      }
      unsafe nodes[place].store(new, ordering: .relaxed)
    }
  }

  /// Returns the shard whose next entry has the least density, if that is clearly below this density.
  ///
  /// - Parameters:
  ///   - density: The density of the entry that the searching shard would evict; infinite if it has none.
  ///   - index: The searching shard, which is never returned.
  /// - Returns: The index of the shard; nil for none.
  @usableFromInline
  func worse(than density: Float, of index: Int) -> Int? {
    var least = node(0)
    if least & Self.indexBits == UInt32(truncatingIfNeeded: index), Self.density(least) < density {
      // The entry that the shard stored gained hits, so another shard may be the worst one.
      note(density, of: index)
      least = node(0)
    }
    let other = Int(least & Self.indexBits)
    return other != index && Self.density(least) * Self.clearlyWorse < density ? other : nil
  }
}
