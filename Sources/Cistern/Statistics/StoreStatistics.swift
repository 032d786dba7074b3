/// What a store and its caches hold now, and have counted since they were opened.
///
/// A snapshot: each cache's numbers were taken a moment after the other's.
public struct StoreStatistics: Sendable, Equatable {
  /// What all caches together hold in memory. The limits are the store's.
  public var memory: MemoryStatistics
  /// What the second tier holds and has counted, for all caches; nil where there is none.
  public var disk: SecondTierStatistics?
  /// The open caches, by name.
  public var caches: [String: CacheStatistics]

  /// Creates statistics.
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
