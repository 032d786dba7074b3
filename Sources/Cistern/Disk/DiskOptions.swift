/// How a disk tier is opened. Whoever opens the directory a second time in this process must say the same.
package struct DiskOptions: Sendable {
  package var limit: ByteCount
  package var durability: Durability
  package var isReadOnly: Bool
  /// The longest time that a staged write waits for its commit.
  package var commitInterval: Duration
  /// The time after which a failing disk is tried again; doubled at each failure, up to sixty-four times.
  package var retryInterval: Duration
  /// How long a reader may keep the file's space from being used, before the store goes on without the disk.
  package var readerPatience: Duration
  /// Where faults are put in by tests.
  package var faults: DiskFaults

  package init(
    limit: ByteCount, durability: Durability = .powerCut, isReadOnly: Bool = false,
    commitInterval: Duration = .milliseconds(5), retryInterval: Duration = .seconds(1),
    readerPatience: Duration = .seconds(1), faults: DiskFaults = DiskFaults()
  ) {
    self.limit = limit
    self.durability = durability
    self.isReadOnly = isReadOnly
    self.commitInterval = commitInterval
    self.retryInterval = retryInterval
    self.readerPatience = readerPatience
    self.faults = faults
  }

  /// The settings in which all openings of a directory in one process must agree.
  var settings: OpenSettings {
    var settings = OpenSettings()
    settings.add("diskLimit", limit)
    settings.add("durability", durability)
    settings.add("isReadOnly", isReadOnly)
    settings.add("commitInterval", commitInterval)
    return settings
  }
}

/// Faults that a test puts into the tier's own writer, in place of the disk's.
package struct DiskFaults: Sendable {
  /// What fails.
  package enum Fault: Sendable {
    case noSpace
    case inputOutput
    case corrupted
    case panic
    case mapFull
  }

  /// Asked at the end of each write transaction, on the writer thread, which then fails so; nil for no fault.
  package var atCommit: @Sendable () -> Fault?
  /// Asked whether the device is full, after a write failed; nil to ask the device.
  package var isDeviceFull: (@Sendable () -> Bool)?

  package init(atCommit: @escaping @Sendable () -> Fault? = { nil }, isDeviceFull: (@Sendable () -> Bool)? = nil) {
    self.atCommit = atCommit
    self.isDeviceFull = isDeviceFull
  }
}

extension Duration {
  /// Nanoseconds, as many as there are numbers for; none for a negative one.
  var clampedNanoseconds: UInt64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let (product, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, carry) = product.addingReportingOverflow(UInt64(attoseconds / 1_000_000_000))
    return overflow || carry ? .max : sum
  }
}
