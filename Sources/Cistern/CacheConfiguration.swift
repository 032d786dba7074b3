/// What a cache does otherwise than by default.
public struct CacheConfiguration<Value: Sendable>: Sendable {
  /// The highest total cost of the values in memory; nil for no other limit than the store's.
  public var memoryLimit: ByteCount?
  /// The highest number of values in memory; nil for none.
  public var countLimit: Int?
  /// What a value costs in memory, in bytes or whatever else the limits count. At least 1; what is less counts as 1.
  ///
  /// Nil for the size of the encoded value. Called outside all locks, by whoever stores.
  public var weigher: (@Sendable (Value) -> Int)?
  /// Whether a fetch whose callers have all been cancelled runs to its end, and its value is stored. Else it is
  /// cancelled with the last of them.
  public var completesAbandonedFlights = false

  /// The defaults.
  public init() {}

  /// Creates a configuration.
  public init(
    memoryLimit: ByteCount? = nil, countLimit: Int? = nil, weigher: (@Sendable (Value) -> Int)? = nil,
    completesAbandonedFlights: Bool = false
  ) {
    self.memoryLimit = memoryLimit
    self.countLimit = countLimit
    self.weigher = weigher
    self.completesAbandonedFlights = completesAbandonedFlights
  }
}
