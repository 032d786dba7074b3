import Locking

final class StoreBatchWrites<Key: Hashable & Sendable, Value: Sendable>: StoreBatchMember {
  private let cache: Cache<Key, Value>
  private let batch: Guarded<Batch<Key, Value>>

  init(_ cache: Cache<Key, Value>) {
    self.cache = cache
    batch = Guarded(Batch(layering: cache.layering))
  }

  func add(_ write: KeyWrite<Value>, to key: Key) {
    // A replaced value is released outside the lock.
    _ = batch.withLock { $0.write(write, to: key) }
  }

  var count: Int { batch.withLock { $0.count } }
  var partition: (any TransactionalPartition)? { cache.secondTier?.partition }

  func memberWrites(context: WriterContext?) -> any StoreWriteMember {
    let batch = batch.withLock { $0 }
    return MemberWrites(cache, keys: batch.keys, context: context, dependsOnCached: cache.dependsOnCached) {
      [cache] key, snapshot throws(CisternError) in try cache.plan(batch, key, snapshot)
    }
  }
}
