import Eviction

/// The place of a shard among those of its table, and the limits that they share.
@usableFromInline
struct ShardNeighborhood {
  /// The index of the shard in its table.
  @usableFromInline let index: Int
  /// The number of shards in the table.
  @usableFromInline let shardCount: Int
  @usableFromInline let priorities: ShardPriorities
  @usableFromInline let budget: MemoryBudget

  @inlinable
  init(index: Int, shardCount: Int, priorities: ShardPriorities, budget: MemoryBudget) {
    self.index = index
    self.shardCount = shardCount
    self.priorities = priorities
    self.budget = budget
  }
}

extension EntryTable {
  /// Returns the neighborhood of the shard with this index.
  @inlinable
  func neighborhood(of index: Int) -> ShardNeighborhood {
    ShardNeighborhood(index: index, shardCount: shards.count, priorities: priorities, budget: budget)
  }
}
