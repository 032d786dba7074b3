/// An operation of a client.
enum Operation: String, Sendable, CaseIterable {
  /// A synchronous look-up in both tiers.
  case lookUp
  /// A load: a look-up that fetches an absent value.
  case load
  /// A load with a random policy, including refreshes.
  case loadOtherwise
  /// A read through a borrowed view of the bytes.
  case view
  /// A load of several keys.
  case bulkLoad
  /// Several loads of one key, some of which are cancelled.
  case cancel
  /// A write that returns immediately.
  case write
  /// A write that returns after the commit.
  case commit
  /// A write of a value that is larger than the memory limit.
  case writeOversize
  /// A removal that returns immediately.
  case remove
  /// A removal that returns after the commit.
  case commitRemoval
  /// A registration of another observer.
  case observe
  /// The removal of all keys.
  case removeAll
  /// The removal of all keys with a tag.
  case removeTagged
  /// The removal of all keys with a prefix.
  case removePrefix
  /// A request to release memory.
  case trim
  /// The exercise with an unavailable origin.
  case outage
  /// The exercise with a circuit breaker.
  case breaker
  /// The exercise with the outcomes of fetches.
  case outcome
  /// The exercise with merged values.
  case merge
  /// The exercise with updates.
  case count
  /// The exercise with batches.
  case pair
  /// The exercise with drafts.
  case transfer
  /// The exercise with optimistic edits.
  case edit
  /// The exercise with negative results and schema versions.
  case recall
  /// The exercise with observed contents and enumerations.
  case contents
  /// The exercise with backups and verifications.
  case backup
}
