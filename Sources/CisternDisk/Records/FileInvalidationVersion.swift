import CisternCore

/// The version of an invalidation in the file, in the order of the commits of all processes. Records carry it.
///
/// Each process orders the same invalidations differently, by its ``InvalidationVersion``. A version does not wrap
/// around.
package struct FileInvalidationVersion: InvalidationOrder {
  /// The number, for the rows and records of the file and for descriptions.
  package let number: UInt64

  @inline(__always)
  package init(number: UInt64) {
    self.number = number
  }

  /// Creates the version with the number of a local one. The version that a transaction assigns must not be below it.
  init(sameNumberAs version: InvalidationVersion) {
    number = version.number
  }

  /// The version before the first invalidation.
  @inline(__always)
  package static var zero: FileInvalidationVersion { FileInvalidationVersion(number: 0) }

  /// A version that no invalidation reaches.
  static var max: FileInvalidationVersion { FileInvalidationVersion(number: .max) }

  /// Returns the version of the next invalidation.
  func next() -> FileInvalidationVersion { FileInvalidationVersion(number: number + 1) }

  /// Returns the version that is older by this count; zero for none.
  func earlier(by count: Int) -> FileInvalidationVersion {
    FileInvalidationVersion(number: number > UInt64(count) ? number - UInt64(count) : 0)
  }

  @inline(__always)
  package static func < (left: FileInvalidationVersion, right: FileInvalidationVersion) -> Bool {
    left.number < right.number
  }
}

extension InvalidationVersion {
  /// Creates the local version with the number of one in the file. The local versions of the invalidations that the
  /// process learns from the file must not be below it.
  init(sameNumberAs version: FileInvalidationVersion) {
    self.init(number: version.number)
  }
}

extension RecordMetadata {
  /// The invalidation version of a record of the file, in the order of the file.
  @inline(__always)
  var fileVersion: FileInvalidationVersion {
    get { FileInvalidationVersion(number: invalidationVersion) }
    set { invalidationVersion = newValue.number }
  }
}
