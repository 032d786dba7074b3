import CisternCore
import LMDB

/// The file's row of invalidation versions of one partition.
///
/// The file holds three kinds of rows for the invalidations of a partition. All versions in them are in file order.
///
///     "e" + name                          the newest version, the newest forgotten version, the number of changes
///     "i" + digest of name + of the rest  in force: the version, a byte for the kind, and the tag or prefix
///     "x" + digest of name + the version  ended: the same fields
///
/// If `changes` is unchanged, no process has changed any of these rows.
package struct InvalidationVersionRow: Sendable, Equatable {
  /// The newest invalidation version.
  var invalidationVersion = FileInvalidationVersion.zero
  /// The newest version whose invalidation ended and is no longer in the file.
  var purged = FileInvalidationVersion.zero
  /// The number of changes to the rows of the partition.
  var changes: UInt64 = 0

  init() {}

  /// Decodes a row, or returns nil if the value does not have the size of a row.
  package init?(_ value: RawSpan) {
    guard value.byteCount == 24 else { return nil }
    invalidationVersion = FileInvalidationVersion(number: value.integer(at: 0, as: UInt64.self))
    purged = FileInvalidationVersion(number: value.integer(at: 8, as: UInt64.self))
    changes = value.integer(at: 16, as: UInt64.self)
  }

  package var value: [UInt8] {
    MetaTable.value(invalidationVersion.number) + MetaTable.value(purged.number) + MetaTable.value(changes)
  }
}
