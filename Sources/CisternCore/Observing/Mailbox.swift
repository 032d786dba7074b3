/// The changes that an observer has not received yet. Handlers use ``HandlerMailbox``, and sequences use
/// ``IteratorMailbox``.
///
/// A change is appended under the locks of the shard and the registry. All other work happens outside of them.
protocol Mailbox: AnyObject, Sendable {
  /// Appends a change. Runs no user code and releases no user value. Returns whether the caller must call
  /// ``startDelivery()``.
  func append(_ change: ErasedChange) -> Bool

  /// Releases displaced changes, and wakes the consumer if necessary. Must be called outside all locks.
  func startDelivery()

  /// Marks the end of the changes, because the cache was deinitialized. The consumer receives the remaining
  /// changes, and then the end.
  func finish()

  /// Ends the observation. Releases the remaining changes and delivers none of them.
  func end()
}
