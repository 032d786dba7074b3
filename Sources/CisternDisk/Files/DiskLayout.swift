/// The form in which a data file stores records. It is fixed when the file begins.
package enum DiskLayout: String, Sendable {
  /// Records are values of a tree, under their keys.
  case records
  /// Records are in extents, and an index of key digests refers to them.
  case extents

  /// The version of the file format with this layout.
  package var formatVersion: UInt64 {
    switch self {
    case .records: 3
    case .extents: 4
    }
  }

  /// The layout of a file with this version of the format; nil for any other version.
  init?(formatVersion: UInt64) {
    guard let layout = [Self.records, .extents].first(where: { $0.formatVersion == formatVersion }) else { return nil }
    self = layout
  }
}

/// The layouts that an opening accepts.
enum AcceptedLayout {
  /// This layout alone. A new file gets it.
  case only(DiskLayout)
  /// The layout that the file has. A new file gets the given one.
  case any(beginning: DiskLayout)

  /// The layout of a new file.
  var ofNewFile: DiskLayout {
    switch self {
    case .only(let layout), .any(let layout): layout
    }
  }

  /// Returns the layout to use for a file with this version of the format. Nil if the version is not accepted.
  func layout(formatVersion: UInt64) -> DiskLayout? {
    guard let layout = DiskLayout(formatVersion: formatVersion) else { return nil }
    switch self {
    case .only(let accepted): return accepted == layout ? layout : nil
    case .any: return layout
    }
  }
}
