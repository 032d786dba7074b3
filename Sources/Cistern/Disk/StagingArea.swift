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

  /// Guarded by the shard's lock. Both are read; only `fresh` is written to.
  private struct Shard: Sendable {
    /// What was staged since the writer thread last came.
    var fresh = StagedWrites()
    /// What the writer thread is committing: it stays, and is read, until the commit is visible.
    var committing = StagedWrites()
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
    // The one replaced is freed outside the lock.
    let (entry, isTaken, replaced, joins) = shard(of: hash).state.withLock {
      shard -> (StagedEntry, Bool, StagedEntry?, Bool) in
      let (number, epoch, instead) = make()
      let taken = instead ?? write
      var entry = StagedEntry(write: taken, number: number, epoch: epoch, size: taken.stagedSize, batch: batch)
      let replaced = shard.fresh.set(entry, hash: hash)
      guard let replaced, replaced.batch != 0, replaced.batch != batch, replaced.epoch == epoch else {
        return (entry, instead == nil, replaced, false)
      }
      if batch == 0 { entry.batch = replaced.batch } else { links.withLock { $0.join(batch, replaced.batch) } }
      _ = shard.fresh.set(entry, hash: hash)
      return (entry, instead == nil, replaced, batch != 0)
    }
    if replaced != nil { count.subtract(1, ordering: .releasing) }
    return StagingChange(
      number: entry.number, isTaken: isTaken, joinsBatches: joins, addedBytes: entry.size - (replaced?.size ?? 0),
      addedCount: replaced == nil ? 1 : 0)
  }

  /// The newest write of the key; nil where none is staged.
  func entry(forKey key: RawSpan) -> StagedEntry? {
    let hash = StagedWrites.hash(key)
    return shard(of: hash).state.withLock { shard in
      shard.fresh.entry(forKey: key, hash: hash) ?? shard.committing.entry(forKey: key, hash: hash)
    }
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
      shard.state.withLock { shard in
        guard !shard.fresh.isEmpty else { return nil }
        shard.committing = shard.fresh
        shard.fresh = StagedWrites()
        return shard.committing
      }
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
          guard shard.fresh.entry(forKey: key, hash: StagedWrites.hash(key)) == nil else { continue }
          if let replacement = replacing(entry), shard.fresh.insert(replacement) { kept += 1 }
        }
        return (done, kept)
      }
      if done.count > kept { count.subtract(done.count - kept, ordering: .releasing) }
    }
  }

  /// Lets go of the writes of other epochs than this; answers the bytes and the number of those that were not being
  /// committed.
  func removeVoid(epoch: UInt16) -> (bytes: Int, count: Int) {
    var bytes = 0
    var freshCount = 0
    for shard in shards {
      // What goes is freed outside the lock.
      let (gone, kept) = shard.state.withLock { shard in
        let gone = shard
        shard = Shard()
        var kept = 0
        for entry in gone.fresh where entry.epoch == epoch {
          if shard.fresh.insert(entry) { kept += 1 }
        }
        return (gone, kept)
      }
      let total = gone.fresh.count + gone.committing.count - kept
      if total > 0 { count.subtract(total, ordering: .releasing) }
      freshCount += gone.fresh.count - kept
      for entry in gone.fresh where entry.epoch != epoch { bytes += entry.size }
    }
    return (bytes, freshCount)
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
