/// What an observer has still to hear. One is a handler's (``HandlerMailbox``), the other a sequence's
/// (``IteratorMailbox``).
///
/// A change is taken in under the shard's lock and the registry's; all else happens outside of them.
protocol Mailbox: AnyObject, Sendable {
  /// Takes a change in. Runs nothing and frees nothing of a user's; returns whether ``attend()`` must be called.
  func append(_ change: ErasedChange) -> Bool

  /// Frees what was displaced and wakes the consumer, if it has to be.
  func attend()

  /// Nothing more will be appended, since the cache is gone: the consumer gets what is there, and then its end.
  func finish()

  /// Nobody listens any more: what is there is freed, and nothing is delivered from now on.
  func end()
}
