import CisternCore
import LMDB

// Defects that readers find, and that the writer thread examines.

extension DiskEngine {
  /// Records an error that a reader met. The reader returns a miss.
  ///
  /// An error that only the writer thread can repair is left to it.
  @inline(never)
  func noteReadFailure(_ error: LMDBError, of environment: Environment) {
    switch error.code {
    case .corrupted, .pageNotFound, .panic, .invalid, .versionMismatch:
      reportedDefects.withLock { reportedDefects in
        if reportedDefects.count < DiskEngine.defectCapacity { reportedDefects.append(.file(error, environment)) }
      }
      wakeForMaintenance(toRepair: true)
    default: break
    }
  }

  /// Records that the key's record failed its checksum. The writer thread removes it.
  @inline(never)
  func reportDefect(_ key: RawSpan, of partition: Partition) {
    partition.counters.damaged.count()
    let key = key.copiedBytes()
    reportedDefects.withLock { reportedDefects in
      if reportedDefects.count < DiskEngine.defectCapacity { reportedDefects.append(.record(partition, key)) }
    }
    wakeForMaintenance()
  }

  private static let defectCapacity = 1024

  /// Whether a reported defect is not examined yet.
  var hasReportedDefects: Bool { reportedDefects.withLock { !$0.isEmpty } }

  /// Returns the defects that readers have reported since the last call.
  func takeReportedDefects() -> [ReportedDefect] {
    reportedDefects.withLock { reportedDefects in
      defer { reportedDefects = [] }
      return reportedDefects
    }
  }

  /// Reports the damaged records among the defects again, because the transaction for their removal has failed.
  ///
  /// The error of a file is not reported again. A file that stays would otherwise be replaced or opened again without
  /// end.
  func keepDamagedRecords(among defects: [ReportedDefect]) {
    let records = defects.filter(\.isRecord)
    reportedDefects.withLock { reportedDefects in
      reportedDefects += records.prefix(max(0, DiskEngine.defectCapacity - reportedDefects.count))
    }
  }

  /// Wakes the writer thread for maintenance, also during a pause if it must repair the file.
  func wakeForMaintenance(toRepair needsRepair: Bool = false) {
    monitor.change { state in
      state.needsMaintenance = true
      if needsRepair { state.needsRepair = true }
    }
  }
}
