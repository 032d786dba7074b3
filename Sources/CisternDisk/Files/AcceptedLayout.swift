import CisternCore

/// The layouts that an opening accepts.
enum AcceptedLayout {
  /// This layout alone. A new file gets it.
  case only(DiskLayout)
  /// The dense layout alone. A new file gets extents of this size.
  case dense(ExtentLayout)
  /// The layout that the file has. A new file gets the given one.
  case any(beginning: DiskLayout)

  /// The layout of a new file.
  var ofNewFile: DiskLayout {
    switch self {
    case .only(let layout), .any(let layout): layout
    case .dense: .dense
    }
  }

  /// The layout of the extents of a new file. Nil if it follows from the size of the map.
  var ofNewExtents: ExtentLayout? {
    switch self {
    case .only, .any: nil
    case .dense(let layout): layout
    }
  }

  /// The accepted versions of the format, for messages.
  var versions: String {
    switch self {
    case .only, .dense: "\(ofNewFile.formatVersion)"
    case .any: "\(DiskLayout.ordered.formatVersion) or \(DiskLayout.dense.formatVersion)"
    }
  }

  /// Returns the layout to use for a file with this version of the format. Nil if the version is not accepted.
  func layout(formatVersion: UInt64) -> DiskLayout? {
    guard let layout = DiskLayout(formatVersion: formatVersion) else { return nil }
    switch self {
    case .only, .dense: return ofNewFile == layout ? layout : nil
    case .any: return layout
    }
  }
}
