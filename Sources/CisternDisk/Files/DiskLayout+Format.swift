import CisternCore

#if LAYOUT_OF_ENVIRONMENT
  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #elseif canImport(Darwin)
    import Darwin
  #endif
#endif

extension DiskLayout {
  /// The layout of new files, unless the options name one or the limit is too small.
  static let ofNewFiles: DiskLayout = {
    #if LAYOUT_OF_ENVIRONMENT
      // Read once. No thread of the tests and trials changes the variable, so the bytes stay valid.
      if let name = unsafe getenv("CISTERN_LAYOUT") {
        guard let layout = unsafe DiskLayout(rawValue: String(cString: name)) else {
          preconditionFailure("CISTERN_LAYOUT must be ordered or dense")
        }
        return layout
      }
    #endif
    return .dense
  }()

  /// The version of the file format with this layout.
  package var formatVersion: UInt64 {
    switch self {
    case .ordered: 3
    case .dense: 4
    }
  }

  /// The smallest disk limit for the dense layout. Below it, the reserve for reclaiming and the pages that synchronized commits
  /// leave partly empty take most of the file.
  package static let smallestDenseLimit = ByteCount.mebibytes(4)

  /// The layout of a file with this version of the format; nil for any other version.
  init?(formatVersion: UInt64) {
    guard let layout = [Self.ordered, .dense].first(where: { $0.formatVersion == formatVersion }) else { return nil }
    self = layout
  }
}
