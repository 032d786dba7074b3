import CisternTestSupport
import Foundation
import Locking
import Testing

@testable import CisternDisk

/// Copies of the data file at each commit. Each copy is the file that a process would leave if it died then.
final class Copies: Sendable {
  private let source: String
  private let scratches = Guarded<[TemporaryDirectory]>([])

  init(of scratch: TemporaryDirectory) { source = scratch.dataFile.path }

  var count: Int { scratches.withLock { $0.count } }

  func scratch(_ index: Int) -> TemporaryDirectory { scratches.withLock { $0[index] } }

  func take() -> DiskFaults.Fault? {
    let scratch = TemporaryDirectory()
    do {
      try FileManager.default.createDirectory(atPath: scratch.store, withIntermediateDirectories: true)
      try FileManager.default.copyItem(atPath: source, toPath: scratch.dataFile.path)
    } catch {
      Issue.record(error)
    }
    scratches.withLock { $0.append(scratch) }
    return nil
  }
}
