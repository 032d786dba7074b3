import CisternDisk
import Foundation

extension DiskLayout {
  /// The layout that the test names in the environment variable `CISTERN_LAYOUT`, or `records`.
  static var tested: DiskLayout {
    ProcessInfo.processInfo.environment["CISTERN_LAYOUT"].flatMap { DiskLayout(rawValue: $0) } ?? .records
  }
}
