/// The current contents and the limits of memory.
public struct MemoryStatistics: Sendable, Equatable {
  /// The number of entries that hold a value.
  public var entryCount: Int
  /// The total cost of these entries.
  public var cost: Int
  /// The highest value that ``cost`` has had, for the budget that the limits belong to.
  public var peakCost: Int
  /// The limit on ``cost``.
  public var costLimit: Int
  /// The limit on ``entryCount``, or nil if it is unlimited.
  public var countLimit: Int?

  /// Creates statistics with these values.
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
