import Cistern
import Foundation
import Locking

/// The check that the tiers stay within their limits. It records the peak sizes.
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

  /// Checks the sizes once.
  func look(at store: Store) {
    let memory = store.statistics.memory.cost
    let disk = fileSize()
    peaks.withLock { peaks in
      peaks.memory = max(peaks.memory, memory)
      peaks.disk = max(peaks.disk, disk)
    }
    if memory > memoryLimit {
      violations.report(.overLimit, "memory holds \(memory) bytes, which is \(memory - memoryLimit) above its limit")
    }
    if disk > diskLimit {
      violations.report(.overLimit, "the data file has \(disk) bytes, which is \(disk - diskLimit) above its limit")
    }
  }

  /// The limits and the peak sizes, by tier.
  var summaries: [String: StressReport.LimitSummary] {
    let peaks = peaks.withLock { $0 }
    return [
      "memory": StressReport.LimitSummary(limit: memoryLimit, peak: peaks.memory),
      "disk": StressReport.LimitSummary(limit: diskLimit, peak: peaks.disk),
    ]
  }

  /// Returns the size of the store's data file, or 0 if the file does not exist.
  private func fileSize() -> Int {
    let path = directory + "/data.mdb"
    guard FileManager.default.fileExists(atPath: path) else { return 0 }
    do {
      return (try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
    } catch {
      // The file was set aside between the two calls, and the store is about to create another one.
      return 0
    }
  }
}
