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
      suspects.withLock { suspects in
        if suspects.count < DiskEngine.suspectCapacity { suspects.append(.file(error, environment)) }
      }
      wakeForChores()
    default: break
    }
  }

  /// Records that the key's record failed its checksum. The writer thread removes it.
  @inline(never)
  func suspect(_ key: RawSpan, of partition: Partition) {
    partition.counters.damaged.count()
    let key = key.copiedBytes()
    suspects.withLock { suspects in
      if suspects.count < DiskEngine.suspectCapacity { suspects.append(.record(partition, key)) }
    }
    wakeForChores()
  }

  private static let suspectCapacity = 1024

  /// Wakes the writer thread for maintenance.
  func wakeForChores() {
    monitor.change { $0.hasChores = true }
  }
}

/// A defect that a reader found, for the writer thread to examine.
enum Suspect: Sendable {
  /// A record that failed its checksum.
  case record(Partition, [UInt8])
  /// An error of the file in this environment. It no longer matters if the engine has another file.
  case file(LMDBError, Environment)
}
