import CisternCore
import CisternDisk

extension DiskLayout {
  /// Both layouts, for tests whose subject depends on the layout.
  package static let both: [DiskLayout] = [.ordered, .dense]

  /// The layout of the data files of all other tests. The environment variable CISTERN_LAYOUT can name it.
  package static let tested = DiskOptions(limit: .mebibytes(64)).layoutOfNewFile
}
