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
