import Eviction

/// The place of a shard among those of its table, and the limits that they share.
@usableFromInline
struct ShardNeighborhood {
  /// The index of the shard in its table.
  @usableFromInline let index: Int
  /// The number of shards in the table.
  @usableFromInline let shardCount: Int
  @usableFromInline let standings: ShardStandings
  @usableFromInline let budget: MemoryBudget

  @inlinable
  init(index: Int, shardCount: Int, standings: ShardStandings, budget: MemoryBudget) {
    self.index = index
    self.shardCount = shardCount
    self.standings = standings
    self.budget = budget
  }
}

extension EntryTable {
  /// Returns the neighborhood of the shard with this index.
  @inlinable
  func neighborhood(of index: Int) -> ShardNeighborhood {
    ShardNeighborhood(index: index, shardCount: shards.count, standings: standings, budget: budget)
  }
}
