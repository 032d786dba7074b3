import CisternCore
import CisternDisk

extension DiskLayout {
  /// The layout of the data files of all tests. CISTERN_LAYOUT=dense for the package manager makes it dense.
  package static let tested = DiskOptions(limit: .mebibytes(64)).layoutOfNewFile
}
