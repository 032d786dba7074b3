import CisternCore

/// The invalidations of a partition in the file, with file versions.
struct InvalidationRows: Sendable {
  var inForce: [Invalidation: FileInvalidationVersion] = [:]
  /// The invalidations that ended recently.
  ///
  /// A process that learns of one late compares the values of its running fetches and staged writes with it.
  var ended: [Invalidation: FileInvalidationVersion] = [:]
}
