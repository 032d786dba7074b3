/// A value and its source.
public struct Loaded<Value: Sendable>: Sendable {
  /// The source of a value.
  public enum Source: String, Sendable, Hashable, CaseIterable {
    /// Memory.
    case memory
    /// The second tier. Memory did not have the value when the load began. It may be stale.
    case secondTier
    /// The flight of another caller.
    case joined
    /// This call's own fetch.
    case fetched
  }

  /// The value.
  public let value: Value
  /// The source of the value.
  public let source: Source
  /// Whether it is past its lifetime, and in grace.
  public let isStale: Bool

  @inlinable
  init(value: Value, source: Source, isStale: Bool = false) {
    self.value = value
    self.source = source
    self.isStale = isStale
  }
}
