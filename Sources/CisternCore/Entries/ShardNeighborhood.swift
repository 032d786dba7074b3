import Eviction

/// The place of a shard among those of its table.
@usableFromInline
struct ShardNeighborhood<Key: Hashable & Sendable, Value: Sendable> {
  /// The index of the shard in its table.
  @usableFromInline let index: Int
  @usableFromInline let table: EntryTable<Key, Value>

  @inlinable
  init(index: Int, table: EntryTable<Key, Value>) {
    self.index = index
    self.table = table
  }

  @inlinable var budget: MemoryBudget { table.budget }
  /// The number of shards in the table.
  @inlinable var shardCount: Int { table.shards.count }

  /// Returns another shard whose next entry has a clearly lower density; nil if no shard has one.
  @inlinable
  func worse(than density: Float) -> Int? {
    table.shards.count > 1 ? table.priorities.worse(than: density, of: index) : nil
  }
}

extension EntryTable {
  /// Returns the neighborhood of the shard with this index.
  @inlinable
  func neighborhood(of index: Int) -> ShardNeighborhood<Key, Value> { ShardNeighborhood(index: index, table: self) }
}
