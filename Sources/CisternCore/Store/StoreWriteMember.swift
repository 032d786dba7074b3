import Eviction

/// The writes of one cache in a batch over several caches. Only the thread of the batch uses it.
protocol StoreWriteMember: AnyObject {
  /// The identity of the cache. Caches are locked in the order of their identities.
  var identity: ObjectIdentifier { get }
  var name: String { get }
  /// The store of the cache; nil if it has none.
  var store: (any Sendable & AnyObject)? { get }
  var partition: (any TransactionalPartition)? { get }

  /// Counts the changes of the keys, until ``unwatch()``.
  func watch()
  func unwatch()

  /// Reads the keys and prepares their writes. Calls the user's code, so it needs to be outside all locks.
  func prepare() throws(CisternError)
  /// The number of prepared writes.
  var count: Int { get }
  /// The prepared writes of the second tier.
  var tierWrites: [StagedWrite] { get }

  /// Chooses the values for memory, whose costs are at most `room`. Returns their cost, and whether these are all
  /// values.
  func fit(within room: Int) -> (cost: Int, isWhole: Bool)
  /// Reserves room for these values. Returns the budget that lacks room, or nil if the room is reserved.
  func reserve() -> MemoryShortage?
  func release()

  /// Returns the error of an open batch whose writes of this cache no tier would hold; nil if a tier holds them.
  func refusal(in batch: BatchToken) -> CisternError?

  /// Locks the keys, and checks that no key has changed since ``prepare()``. Then calls `others`, and applies the
  /// writes if it returns true. Returns whether the writes are applied.
  ///
  /// Calls no code of the user, except a key's.
  func apply(in batch: BatchToken?, others: () -> Bool) -> Bool
  /// Returns the reason why the second tier refused a write; nil if it refused none.
  func refusal() -> CisternError?
  /// Reports a refused write and notifies observers, outside all locks.
  func finish()
}
