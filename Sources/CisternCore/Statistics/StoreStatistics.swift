/// The current contents of a store and its caches, and their counts since they were opened.
///
/// The numbers of the caches are read one after the other.
public struct StoreStatistics: Sendable, Equatable {
  /// The memory that all caches use together. The limits are those of the store.
  public var memory: MemoryStatistics
  /// The contents and the counts of the second tier for all caches, or nil for a store in memory only.
  public var disk: SecondTierStatistics?
  /// The statistics of the open caches, by name.
  public var caches: [String: CacheStatistics]

  /// Creates statistics with these values.
  public init(
    memory: MemoryStatistics = MemoryStatistics(), disk: SecondTierStatistics? = nil,
    caches: [String: CacheStatistics] = [:]
  ) {
    self.memory = memory
    self.disk = disk
    self.caches = caches
  }
}

extension StoreStatistics: CustomStringConvertible {
  /// A table of two columns for the store, and one for each cache, in the order of their names.
  public var description: String {
    var table = StatisticsTable()
    table.add(memory)
    if let disk { table.add(disk) }
    let sections = caches.sorted { $0.key < $1.key }.map { "cache \"\($0.key)\"\n\($0.value)" }
    return ([table.description] + sections).joined(separator: "\n\n")
  }
}
