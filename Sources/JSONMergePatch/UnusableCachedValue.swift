/// An error that a merge (``CacheConfiguration/merge``) throws if it cannot use the cached value.
///
/// The incoming value then replaces the cached one, and the cache reports ``StoreReport/Code/notMerged``. If a merge
/// throws any other error, the cached value stays.
public struct UnusableCachedValue: Error {
  /// The underlying error, if any.
  public let cause: (any Error)?

  /// Creates the error.
  ///
  /// - Parameter cause: The underlying error.
  public init(cause: (any Error)? = nil) {
    self.cause = cause
  }
}
