import Synchronization

/// An order of invalidations: that of this process, or that of a file. Versions of different orders do not compare.
///
/// Only ``PrefixVersions`` uses the number.
@usableFromInline
package protocol InvalidationOrder: Sendable, Hashable, Comparable {
  var number: UInt64 { get }
  init(number: UInt64)
}
