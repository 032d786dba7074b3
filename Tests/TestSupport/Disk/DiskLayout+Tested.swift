import CisternCore
import CisternDisk

extension DiskLayout {
  /// The layout of the data files of all tests. The environment variable CISTERN_LAYOUT can name it.
  package static let tested = DiskOptions(limit: .mebibytes(64)).layoutOfNewFile
}
