/// What memory holds now, and may hold.
public struct MemoryStatistics: Sendable, Equatable {
  /// Entries that hold a value.
  public var entryCount: Int
  /// The sum of their costs.
  public var cost: Int
  /// The highest that ``cost`` has been; of the budget that the limits belong to.
  public var peakCost: Int
  /// The limit on ``cost``.
  public var costLimit: Int
  /// The limit on ``entryCount``; nil where there is none.
  public var countLimit: Int?

  /// Creates statistics.
  public init(
    entryCount: Int = 0, cost: Int = 0, peakCost: Int = 0, costLimit: Int = 0, countLimit: Int? = nil
  ) {
    self.entryCount = entryCount
    self.cost = cost
    self.peakCost = peakCost
    self.costLimit = costLimit
    self.countLimit = countLimit
  }
}
