/// The tiers that hold the value of an entry.
public struct EntryResidency: OptionSet, Sendable, Hashable {
  /// The bits of the tiers.
  public let rawValue: UInt8

  /// Creates a set of tiers from its bits.
  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// Memory holds the value.
  public static let memory = EntryResidency(rawValue: 1)
  /// The second tier has a record of the key, staged or committed.
  public static let secondTier = EntryResidency(rawValue: 2)
}
