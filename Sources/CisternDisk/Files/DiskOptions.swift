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
