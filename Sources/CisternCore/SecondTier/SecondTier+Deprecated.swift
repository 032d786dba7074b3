// Former names, which existing code may still use.

/// The former name of ``RecordLoss``.
@available(*, deprecated, renamed: "RecordLoss")
public typealias Departure = RecordLoss

extension SecondTier {
  /// Opens a partition, as ``partition(named:lossHandler:)`` does.
  @available(*, deprecated, renamed: "partition(named:lossHandler:)")
  public func partition(
    named name: String, departure: @escaping @Sendable ([RecordLoss]) -> Void
  ) throws(CisternError) -> any SecondTierPartition {
    try partition(named: name, lossHandler: departure)
  }
}

extension RecordMetadata {
  /// The former name of ``invalidationVersion``.
  @available(*, deprecated, renamed: "invalidationVersion")
  public var era: UInt64 {
    get { invalidationVersion }
    set { invalidationVersion = newValue }
  }
}
