/// The tiers that hold the value of an entry.
public struct EntryResidency: OptionSet, Sendable, Hashable {
  /// The bits of the tiers.
  public let rawValue: UInt8

  /// Creates a set of tiers from its bits.
  @inlinable
  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// Memory holds the value.
  @inlinable
  public static var memory: EntryResidency { EntryResidency(rawValue: 1) }
  /// The second tier has a record of the key, staged or committed.
  @inlinable
  public static var secondTier: EntryResidency { EntryResidency(rawValue: 2) }
}
