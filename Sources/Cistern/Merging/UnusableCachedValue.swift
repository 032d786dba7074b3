/// Thrown by a merge (``CacheConfiguration/merge``) for a cached value that nothing can be merged with: the incoming value
/// replaces it, and the cache reports that as ``StoreReport/Code/notMerged``. With any other error the cached value stays.
public struct UnusableCachedValue: Error {
  /// The reason; nil if none is given.
  public let cause: (any Error)?

  /// Creates the error.
  public init(cause: (any Error)? = nil) {
    self.cause = cause
  }
}
