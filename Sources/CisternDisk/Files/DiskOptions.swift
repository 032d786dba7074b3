import CisternCore

/// The options of a disk tier.
///
/// Every further opening of the directory in this process must agree with the `settings` of the open one.
package struct DiskOptions: Sendable {
  package var limit: ByteCount
  /// The layout of the data file. The opening converts a file with another layout.
  ///
  /// If it is nil, the file keeps its layout, and a new file is dense. A file whose limit is too small for the dense
  /// layout is ordered.
  package var layout: DiskLayout?
  package var durability: Durability
  package var isReadOnly: Bool
  /// The maximum time that a staged write waits for its commit.
  package var commitInterval: Duration
  /// The time after which a failing disk is retried. Each failed retry doubles the delay, up to 64 times this
  /// value.
  package var retryInterval = Duration.seconds(1)
  /// The maximum time that the store waits for a reader that prevents the reuse of the file's pages.
  ///
  /// After that time, the store continues without the disk.
  package var readerPatience = Duration.seconds(1)
  /// The number of staged writes above which a tier that takes no writes keeps no more single removals.
  package var removalLimit = DiskLimits.stagedCount
  /// Faults that tests inject.
  package var faults = DiskFaults()

  package init(
    limit: ByteCount, layout: DiskLayout? = nil, durability: Durability = .powerCut, isReadOnly: Bool = false,
    commitInterval: Duration = .milliseconds(5)
  ) {
    self.limit = limit
    self.layout = layout
    self.durability = durability
    self.isReadOnly = isReadOnly
    self.commitInterval = commitInterval
  }

  /// The layout of a new file.
  package var layoutOfNewFile: DiskLayout { layout(replacing: .ofNewFiles) }

  /// Throws if the limit is too small or too large for a store.
  package func checkLimit(location: String) throws(CisternError) { _ = try DiskLimits(limit, location: location) }

  /// Returns the layout for a file that has one.
  func layout(replacing current: DiskLayout) -> DiskLayout {
    layout ?? (limit < DiskLayout.smallestDenseLimit ? .ordered : current)
  }

  /// The settings in which all openings of a directory in one process must agree.
  ///
  /// A configured layout must be that of the file. An opening without one, or one that only reads, uses either layout.
  package var settings: OpenSettings {
    var settings = OpenSettings()
    settings.add("diskLimit", limit)
    settings.add("diskLayout", ifGiven: isReadOnly ? nil : layout?.rawValue)
    settings.add("durability", durability)
    settings.add("isReadOnly", isReadOnly)
    settings.add("commitInterval", commitInterval)
    return settings
  }
}

/// Faults that a test injects into the tier's writer thread.
package struct DiskFaults: Sendable {
  /// The kind of a fault.
  package enum Fault: Sendable {
    case noSpace
    case inputOutput
    case corrupted
    case panic
    case mapFull
    case outOfResources
    case permission
  }

  /// Returns the fault of a write transaction, or nil for no fault.
  ///
  /// The writer thread calls this closure at the end of each write transaction.
  package var atCommit: @Sendable () -> Fault?
  /// Returns the fault of an opening, after it has opened the data file.
  package var atOpening: @Sendable () -> Fault? = { nil }
  /// Returns the fault of the new file when the data file is rewritten for another limit or layout.
  package var atReplacement: @Sendable () -> Fault? = { nil }
  /// Returns the fault of the data file when it is read for its rewriting.
  package var atSourceReading: @Sendable () -> Fault? = { nil }
  /// Returns the fault of an attempt to hold the gate, under which the engine closes or replaces the file.
  package var atGate: @Sendable () -> Fault? = { nil }
  /// Returns the fault of the comparison of a reopened file with its former state.
  package var atComparison: @Sendable () -> Fault? = { nil }
  /// Returns the fault of a write-through to the device.
  package var atSynchronization: @Sendable () -> Fault? = { nil }
  /// Returns whether the device is full, after a write failed. If nil, the tier tests the device.
  package var isDeviceFull: (@Sendable () -> Bool)?
  /// Returns the free bytes of the device. If nil, the tier asks the system.
  package var freeBytes: (@Sendable () -> Int)?

  package init(
    atCommit: @escaping @Sendable () -> Fault? = { nil }, isDeviceFull: (@Sendable () -> Bool)? = nil,
    freeBytes: (@Sendable () -> Int)? = nil
  ) {
    self.atCommit = atCommit
    self.isDeviceFull = isDeviceFull
    self.freeBytes = freeBytes
  }
}

extension Duration {
  /// The duration in nanoseconds. A negative duration is zero, and a too long one is the greatest number.
  var clampedNanoseconds: UInt64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let (product, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, carry) = product.addingReportingOverflow(UInt64(attoseconds / 1_000_000_000))
    return overflow || carry ? .max : sum
  }
}
