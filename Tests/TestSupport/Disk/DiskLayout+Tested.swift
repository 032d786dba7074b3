import CisternDisk
import Foundation

extension DiskLayout {
  /// The layout of the data files of all tests: `records`, or the value of the environment variable `CISTERN_LAYOUT`.
  package static let tested: DiskLayout = {
    guard let name = ProcessInfo.processInfo.environment["CISTERN_LAYOUT"] else { return .records }
    guard let layout = DiskLayout(rawValue: name) else { fatalError("CISTERN_LAYOUT has no such layout: \(name)") }
    return layout
  }()
}
