import Cistern
import Foundation
import Locking

/// Looks at what the tiers hold, many times a second, and remembers the most.
final class LimitWatch: Sendable {
  private struct Peaks {
    var memory = 0
    var disk = 0
  }

  private let peaks = Guarded(Peaks())
  private let memoryLimit: Int
  private let diskLimit: Int
  private let directory: String
  private let violations: ViolationLog

  init(memoryLimit: ByteCount, diskLimit: ByteCount, directory: String, violations: ViolationLog) {
    self.memoryLimit = memoryLimit.bytes
    self.diskLimit = diskLimit.bytes
    self.directory = directory
    self.violations = violations
  }

  /// Looks once.
  func look(at store: Store) {
    let memory = store.statistics.memory.cost
    let disk = fileSize()
    peaks.withLock { peaks in
      peaks.memory = max(peaks.memory, memory)
      peaks.disk = max(peaks.disk, disk)
    }
    if memory > memoryLimit {
      violations.report(.overLimit, "memory holds \(memory) bytes, \(memory - memoryLimit) over its limit")
    }
    if disk > diskLimit {
      violations.report(.overLimit, "the file is \(disk) bytes long, \(disk - diskLimit) over its limit")
    }
  }

  /// The limits and the most that was seen, by tier.
  var summaries: [String: StressReport.LimitSummary] {
    let peaks = peaks.withLock { $0 }
    return [
      "memory": StressReport.LimitSummary(limit: memoryLimit, peak: peaks.memory),
      "disk": StressReport.LimitSummary(limit: diskLimit, peak: peaks.disk),
    ]
  }

  /// The store's file, as the file system tells its size; 0 while there is none.
  private func fileSize() -> Int {
    let path = directory + "/data.mdb"
    guard FileManager.default.fileExists(atPath: path) else { return 0 }
    do {
      return (try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
    } catch {
      // It went away between the two questions: set aside, and about to be made anew.
      return 0
    }
  }
}
