/// The arrangement of values in the data file of a store.
///
/// It decides how many values the disk limit holds, and in which order an enumeration returns them. Every feature works
/// with both. A new file is dense, unless its limit is below 4 MiB. See <doc:Limits>.
public enum DiskLayout: String, Sendable, Hashable {
  /// Values are stored in the order of their keys.
  ///
  /// An enumeration has this order, and one by prefix reads only the keys with the prefix.
  case ordered

  /// Values are stored one after the other, in the order of their writes.
  ///
  /// The file holds about twice as many values of up to 1 KiB, and writes cost less. An enumeration has an order that
  /// does not depend on the keys, and one by prefix reads all keys of the cache. The disk limit must be at least 4 MiB.
  case dense
}
