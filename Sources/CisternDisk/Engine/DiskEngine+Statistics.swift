import CisternCore
import LMDB

extension DiskEngine {
  /// Updates the counters of the file's size and of its records. Constant time.
  func noteSizes(of file: DiskFile) {
    do {
      counters.fileBytes.store(try file.environment.information().fileSize, ordering: .relaxed)
      let count = try file.environment.withRead { (transaction) throws(LMDBError) in
        switch file.layout {
        case .ordered(let tables): try transaction.statistics(of: tables.order).entryCount
        case .dense(let tables): try transaction.itemCount(in: tables.index)
        }
      }
      counters.records.store(count, ordering: .relaxed)
    } catch {
      noteReadFailure(error, of: file.environment)
    }
  }

  /// Returns the counts and sizes of the partitions together, and of the file. Begins no transaction.
  func statistics(of partitions: [Partition]) -> SecondTierStatistics {
    var statistics = SecondTierStatistics()
    statistics.mode = mode
    statistics.limitBytes = limits.limit
    statistics.occupiedBytes = counters.fileBytes.load(ordering: .relaxed)
    statistics.commits = counters.commits.load(ordering: .relaxed)
    if isInherited {
      statistics.mode = .closed
      return statistics
    }
    for partition in partitions {
      partition.counters.add(to: &statistics)
      statistics.entryCount += partition.counters.records.load(ordering: .relaxed)
      statistics.liveBytes += partition.counters.bytes.load(ordering: .relaxed)
      statistics.stagedCount += partition.staging.stagedCount
    }
    return statistics
  }
}

extension SecondTierStatistics.Mode {
  /// The byte that an engine stores atomically for the mode.
  var byte: UInt8 {
    switch self {
    case .active: 0
    case .readOnly: 1
    case .degraded: 2
    case .closed: 3
    }
  }

  init(byte: UInt8) {
    switch byte {
    case 0: self = .active
    case 1: self = .readOnly
    case 2: self = .degraded
    default: self = .closed
    }
  }
}
