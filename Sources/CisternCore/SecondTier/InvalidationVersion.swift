import Synchronization

/// The version of an invalidation, in the order of this process. Memory and the partition of a cache share the numbers.
///
/// An older value that the invalidation concerns is void. The file orders invalidations differently, so its versions
/// are of another type. A version does not wrap around.
@usableFromInline
package struct InvalidationVersion: InvalidationOrder {
  /// The number, for the metadata of records, entries that hold a part of it, and descriptions.
  @usableFromInline package let number: UInt64

  @inlinable
  package init(number: UInt64) {
    self.number = number
  }

  /// The version before the first invalidation.
  @inlinable
  package static var zero: InvalidationVersion { InvalidationVersion(number: 0) }

  /// A version that no invalidation reaches.
  @inlinable
  package static var max: InvalidationVersion { InvalidationVersion(number: .max) }

  /// Returns the version of the next invalidation.
  @inlinable
  package func next() -> InvalidationVersion { InvalidationVersion(number: number + 1) }

  @inlinable
  package static func < (left: InvalidationVersion, right: InvalidationVersion) -> Bool { left.number < right.number }
}

extension InvalidationVersion: AtomicRepresentable {
  @usableFromInline package typealias AtomicRepresentation = UInt64.AtomicRepresentation

  @inlinable
  package static func encodeAtomicRepresentation(_ version: consuming InvalidationVersion) -> AtomicRepresentation {
    UInt64.encodeAtomicRepresentation(version.number)
  }

  @inlinable
  package static func decodeAtomicRepresentation(
    _ representation: consuming AtomicRepresentation
  ) -> InvalidationVersion {
    InvalidationVersion(number: UInt64.decodeAtomicRepresentation(representation))
  }
}

extension RecordMetadata {
  /// The invalidation version of a staged record, or of one that a partition returned, in the order of this process.
  @inlinable
  package var localVersion: InvalidationVersion {
    get { InvalidationVersion(number: invalidationVersion) }
    set { invalidationVersion = newValue.number }
  }
}
