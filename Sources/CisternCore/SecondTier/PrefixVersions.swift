/// The invalidation version of each of some prefixes. All versions have the same order. Pure.
///
/// The tree below holds their numbers, so that it is compiled once for all orders.
@usableFromInline
package struct PrefixVersions<Version: InvalidationOrder>: Sendable {
  @usableFromInline var tree = PrefixTree()

  @inlinable
  package init() {}

  /// The number of prefixes.
  @inlinable
  var count: Int { tree.count }

  /// An upper bound of the versions of all prefixes; zero for no prefixes.
  @inlinable
  var newest: Version { Version(number: tree.newest) }

  /// Adds a prefix, or raises its version. Does nothing if the version is zero.
  @inlinable
  package mutating func insert(_ prefix: [UInt8], version: Version) { tree.insert(prefix, number: version.number) }

  /// Removes a prefix. Does nothing if it was not added.
  @inlinable
  package mutating func remove(_ prefix: [UInt8]) { tree.remove(prefix) }

  /// Returns the greatest version among the prefixes of a key; zero for none.
  @inlinable
  package func newestVersion(ofPrefixesOf key: RawSpan) -> Version {
    Version(number: tree.newestNumber(ofPrefixesOf: key))
  }
}
