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

  /// The former form of ``init(created:expires:cost:schemaVersion:tags:)``, which set all properties.
  @available(*, deprecated, message: "use init(created:expires:cost:schemaVersion:tags:), and set the other properties")
  // Disfavored, because the other form accepts calls that name only its parameters, too.
  @_disfavoredOverload
  public init(
    created: WallTime, expires: WallTime? = nil, cost: UInt32, schemaVersion: UInt32 = 0, tags: [String] = [],
    grace: UInt64 = 0, idle: UInt64 = 0, lastUsed: WallTime? = nil, refreshAhead: UInt64 = 0,
    invalidationVersion: UInt64 = 0, isNegative: Bool = false
  ) {
    self.init(created: created, expires: expires, cost: cost, schemaVersion: schemaVersion, tags: tags)
    self.grace = grace
    self.idle = idle
    self.lastUsed = lastUsed
    self.refreshAhead = refreshAhead
    self.invalidationVersion = invalidationVersion
    self.isNegative = isNegative
  }
}
