import LMDB
import Locking
import Synchronization

/// The writes of one partition that are not yet committed, or whose commit is not yet known to be visible. Readers look
/// here first.
///
/// Sharded by the key's hash, so that writers of different keys seldom meet; a reader of a partition that has nothing
/// staged pays one load.
final class StagingArea: Sendable {
  static let shardCount = 8

  /// Guarded by the shard's lock. Both of the first are read; only `fresh` is written to.
  private struct Shard: Sendable {
    /// What was staged since the writer thread last came, its bytes, and the epoch of all of it.
    var fresh = StagedWrites()
    var freshBytes = 0
    var epoch: UInt16 = 0
    /// What the writer thread is committing: it stays, and is read, until the commit is visible.
    var committing = StagedWrites()
    /// What a removal of all made void: it is left to the writer thread to free, because there may be much of it.
    var void = StagedWrites()

    /// Begins a new epoch; answers what left `fresh`, and what is to be freed without the lock.
    mutating func begin(_ epoch: UInt16) -> (bytes: Int, count: Int, freed: StagedWrites)? {
      guard self.epoch != epoch else { return nil }
      self.epoch = epoch
      let left = (freshBytes, fresh.count, void)
      void = fresh
      fresh = StagedWrites()
      freshBytes = 0
      return left
    }
  }

  private let shards: [ShardLock]
  /// Writes in all shards, those being committed included. Raised before a write is readable and lowered after it is
  /// not, so that whoever reads zero misses nothing that was staged before.
  private let count = Atomic<Int>(0)

  /// Batches that have become one since the last hand-over. Its lock is taken inside a shard's.
  private let links = Guarded(BatchLinks())

  private final class ShardLock: Sendable {
    let state = Guarded(Shard())
  }

  init() {
    shards = (0..<StagingArea.shardCount).map { _ in ShardLock() }
  }

  /// Whether nothing is staged.
  @inline(__always)
  var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

  /// Writes that are staged.
  var stagedCount: Int { max(0, count.load(ordering: .relaxed)) }

  /// Takes the write in place of an earlier one of its key, whose batch it becomes a part of. `make` is run with the
  /// shard's lock held, and may give another write of the key, which is taken instead.
  func stage(
    _ write: StagedWrite, batch: UInt64 = 0, make: () -> (number: UInt64, epoch: UInt16, instead: StagedWrite?)
  ) -> StagingChange {
    let hash = StagedWrites.hash(write.key.rawSpan)
    count.add(1, ordering: .sequentiallyConsistent)
    // What leaves is freed outside the lock.
    let (entry, isTaken, replaced, joins, void) = shard(of: hash).state.withLock { shard in
      let (number, epoch, instead) = make()
      let void = shard.begin(epoch)
      let taken = instead ?? write
      var entry = StagedEntry(write: taken, number: number, epoch: epoch, size: taken.stagedSize, batch: batch)
      let replaced = shard.fresh.set(entry, hash: hash)
      shard.freshBytes += entry.size - (replaced?.size ?? 0)
      guard let replaced, replaced.batch != 0, replaced.batch != batch else {
        return (entry, instead == nil, replaced, false, void)
      }
      if batch == 0 { entry.batch = replaced.batch } else { links.withLock { $0.join(batch, replaced.batch) } }
      _ = shard.fresh.set(entry, hash: hash)
      return (entry, instead == nil, replaced, batch != 0, void)
    }
    let left = (replaced == nil ? 0 : 1) + (void?.count ?? 0)
    if left > 0 { count.subtract(left, ordering: .releasing) }
    return StagingChange(
      number: entry.number, isTaken: isTaken, joinsBatches: joins,
      addedBytes: entry.size - (replaced?.size ?? 0) - (void?.bytes ?? 0), addedCount: 1 - left)
  }

  /// The newest write of the key; nil where none is staged.
  func entry(forKey key: RawSpan) -> StagedEntry? {
    let hash = StagedWrites.hash(key)
    return shard(of: hash).state.withLock { shard in
      shard.fresh.entry(forKey: key, hash: hash) ?? shard.committing.entry(forKey: key, hash: hash)
    }
  }

  /// The keys of every staged record.
  var recordKeys: [[UInt8]] {
    var keys: [[UInt8]] = []
    for shard in shards {
      shard.state.withLock { shard in
        for writes in [shard.fresh, shard.committing] {
          writes.forEach { entry in if case .record(let key, _, _) = entry.write { keys.append(key) } }
        }
      }
    }
    return keys
  }

  /// Runs `body` if no write of the key was staged since the last hand-over, and none can be while it runs.
  func unlessStagedAnew(_ key: [UInt8], _ body: () -> Void) {
    let hash = StagedWrites.hash(key.rawSpan)
    shard(of: hash).state.withLock { shard in
      if shard.fresh.entry(forKey: key.rawSpan, hash: hash) == nil { body() }
    }
  }

  /// Hands over what was staged since the last time, and keeps it readable until `finishCommitting`. No batch is open.
  func beginCommitting() -> (writes: [StagedWrites], links: BatchLinks) {
    let writes = shards.compactMap { (shard) -> StagedWrites? in
      // The void is freed after the lock.
      let (taken, _) = shard.state.withLock { shard -> (StagedWrites?, StagedWrites) in
        let void = shard.void
        shard.void = StagedWrites()
        guard !shard.fresh.isEmpty else { return (nil, void) }
        shard.committing = shard.fresh
        shard.fresh = StagedWrites()
        shard.freshBytes = 0
        return (shard.committing, void)
      }
      return taken
    }
    return (
      writes,
      links.withLock { links in
        defer { links = BatchLinks() }
        return links
      }
    )
  }

  /// Lets go of what was handed over: its commit is visible, or it failed and `replacing` says what stands in its place.
  func finishCommitting(replacing: (StagedEntry) -> StagedEntry? = { _ in nil }) {
    for shard in shards {
      let (done, kept) = shard.state.withLock { shard in
        let done = shard.committing
        shard.committing = StagedWrites()
        var kept = 0
        for entry in done {
          // A newer write of the key stands for itself.
          let key = entry.write.key.rawSpan
          guard entry.epoch == shard.epoch, shard.fresh.entry(forKey: key, hash: StagedWrites.hash(key)) == nil else {
            continue
          }
          if let replacement = replacing(entry), shard.fresh.insert(replacement) {
            kept += 1
            shard.freshBytes += replacement.size
          }
        }
        return (done, kept)
      }
      if done.count > kept { count.subtract(done.count - kept, ordering: .releasing) }
    }
  }

  /// Begins a new epoch: lets go of the writes of those before, in constant time. Answers the bytes and the number of those
  /// that were not being committed.
  func begin(epoch: UInt16) -> (bytes: Int, count: Int) {
    var bytes = 0
    var total = 0
    for shard in shards {
      guard let left = shard.state.withLock({ $0.begin(epoch) }) else { continue }
      if left.count > 0 { count.subtract(left.count, ordering: .releasing) }
      bytes += left.bytes
      total += left.count
    }
    return (bytes, total)
  }

  private func shard(of hash: UInt64) -> ShardLock {
    shards[Int(truncatingIfNeeded: hash >> 61)]
  }
}

/// What staging a write changed.
struct StagingChange {
  let number: UInt64
  /// Whether the write was taken itself, and not another in its place.
  let isTaken: Bool
  /// Whether two batches have become one by it.
  let joinsBatches: Bool
  let addedBytes: Int
  let addedCount: Int
}
