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
}
