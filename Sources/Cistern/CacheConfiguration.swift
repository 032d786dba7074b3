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
  /// Makes one value of what is cached and what arrives, for values of which each source brings only a part. Every value
  /// that is set, loaded or saved goes through it, where something usable is cached; what comes out is stored, announced,
  /// and returned to those who wait for the load.
  ///
  /// Called outside all locks, and again when the key was written meanwhile: it must not write that key itself. Nil to
  /// replace what is cached. ``JSONMergePatch`` has a ready-made one.
  public var merge: (@Sendable (_ cached: Value, _ incoming: Value) throws -> Value)?
  /// Whether two values are the same for observers: then a write that changes nothing is not announced. Called outside
  /// all locks. Nil to announce every write. For `Equatable` values it is `(==)`.
  public var isEqual: (@Sendable (Value, Value) -> Bool)?

  /// The defaults.
  public init() {}

  /// Creates a configuration.
  public init(
    memoryLimit: ByteCount? = nil, countLimit: Int? = nil, weigher: (@Sendable (Value) -> Int)? = nil,
    completesAbandonedFlights: Bool = false,
    merge: (@Sendable (_ cached: Value, _ incoming: Value) throws -> Value)? = nil,
    isEqual: (@Sendable (Value, Value) -> Bool)? = nil
  ) {
    self.memoryLimit = memoryLimit
    self.countLimit = countLimit
    self.weigher = weigher
    self.completesAbandonedFlights = completesAbandonedFlights
    self.merge = merge
    self.isEqual = isEqual
  }
}
