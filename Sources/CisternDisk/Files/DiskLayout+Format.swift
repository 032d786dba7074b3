import CisternCore

extension DiskLayout {
  /// The version of the file format with this layout.
  package var formatVersion: UInt64 {
    switch self {
    case .ordered: 3
    case .dense: 4
    }
  }

  /// The smallest disk limit for the dense layout. Below it, the reserve for reclaiming and the pages that synchronized
  /// commits leave partly empty take most of the file.
  package static let smallestDenseLimit = ByteCount.mebibytes(4)

  /// The layout of a file with this version of the format; nil for any other version.
  init?(formatVersion: UInt64) {
    guard let layout = [Self.ordered, .dense].first(where: { $0.formatVersion == formatVersion }) else { return nil }
    self = layout
  }
}
