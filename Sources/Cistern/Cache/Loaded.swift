/// A value, and where it came from.
public struct Loaded<Value: Sendable>: Sendable {
  /// Where a value came from.
  public enum Source: String, Sendable, Hashable, CaseIterable {
    /// Memory had it.
    case memory
    /// The second tier had it, and memory did not when the load began. It may be stale.
    case secondTier
    /// A flight that someone else had started brought it.
    case joined
    /// This call's own fetch brought it.
    case fetched
  }

  /// The value.
  public let value: Value
  /// Where it came from.
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
