import CisternCore
import LMDB
import Locking
import Synchronization

/// The writes of one partition that are not yet committed, or whose commit is not yet known to be visible.
///
/// Readers look here first. The area is sharded by the key's hash, so that writers of different keys seldom
/// contend. A read of a partition without staged writes costs one atomic load.
final class StagingArea: Sendable {
  static let shardCount = 8

  /// The effect of a new clear count on one shard.
  struct Clear: Sendable {
    /// The size and the number of the writes that left `fresh`.
    let bytes: Int
    let count: Int
    /// The void writes of the clear before. The caller must free them outside the lock.
    let freed: StagedWrites
  }

  /// The state of one shard. Readers look into `fresh` and then `committing`; stagers write only to `fresh`.
  struct Shard: Sendable {
    /// The writes since the last hand-over to the writer thread.
    var fresh = StagedWrites()
    /// The size of the writes in `fresh`, in bytes.
    var freshBytes = 0
    /// The clear count of the writes in `fresh`.
    var clearCount = ClearCount.zero
    /// The writes that the writer thread is committing. They stay readable until the commit is visible.
    var committing = StagedWrites()
    /// Whether a clear since the hand-over has made the writes in `committing` void. Its count alone could repeat.
    var isCommittingVoid = false
    /// The writes that the last clear made void. The writer thread frees them, because they can be many.
    var void = StagedWrites()

    /// Begins a new clear count. Returns the effect, or nil if the shard has this clear count or a later one.
    ///
    /// Each clear reaches all shards, so that no shard is many clears behind.
    mutating func begin(_ clearCount: ClearCount) -> Clear? {
      guard clearCount.isLater(than: self.clearCount) else { return nil }
      self.clearCount = clearCount
      isCommittingVoid = true
      let clear = Clear(bytes: freshBytes, count: fresh.count, freed: void)
      void = fresh
      fresh = StagedWrites()
      freshBytes = 0
      return clear
    }

    /// Returns the write of the key that is being committed; nil for none, or for a void one.
    func committing(_ key: RawSpan, hash: UInt64) -> StagedEntry? {
      isCommittingVoid ? nil : committing.entry(forKey: key, hash: hash)
    }

    /// Puts a write into `fresh`. Returns the write of the same key that it replaces. It takes the tickets of that
    /// write, and joins its batch unless it has one.
    mutating func put(_ entry: inout StagedEntry, hash: UInt64) -> StagedEntry? {
      guard var replaced = fresh.set(entry, hash: hash) else {
        freshBytes += entry.size
        return nil
      }
      entry.batch = entry.batch ?? replaced.batch
      entry.takeTickets(of: &replaced)
      _ = fresh.set(entry, hash: hash)
      freshBytes += entry.size - replaced.size
      return replaced
    }
  }

  let shards: [ShardLock]
  /// The number of writes in all shards, including those that are being committed.
  ///
  /// It is raised before a write becomes readable, and lowered after the write is no longer readable. A reader that
  /// sees zero therefore misses no earlier write.
  let count = Atomic<Int>(0)

  /// The batches that were joined since the last hand-over. Lock order: a shard's lock, then this lock.
  let links = Guarded(BatchLinks())

  final class ShardLock: Sendable {
    let state = Guarded(Shard())
  }

  init() {
    shards = (0..<StagingArea.shardCount).map { _ in ShardLock() }
  }

  /// Whether no write is staged.
  @inline(__always)
  var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

  /// The number of staged writes.
  var stagedCount: Int { max(0, count.load(ordering: .relaxed)) }

  /// Stages a write, which replaces an earlier write of its key.
  ///
  /// If the earlier write is a part of a batch, the new write joins that batch. If both are parts of batches, the
  /// two batches are joined. The shard's lock is held while `make` runs. The closure orders the write, and can
  /// return a removal of the key to stage instead.
  func stage(
    _ write: StagedWrite, batch: BatchNumber? = nil,
    make: () -> (ticket: CommitTicket, clearCount: ClearCount, instead: ReplacingRemoval?)
  ) -> StagingChange {
    let hash = StagedWrites.hash(write.key.rawSpan)
    count.add(1, ordering: .sequentiallyConsistent)
    // The replaced write is freed outside the lock, too.
    let (entry, isStaged, joins, replaced, clear) = shard(of: hash).state.withLock { shard in
      let (ticket, clearCount, instead) = make()
      let clear = shard.begin(clearCount)
      let taken = instead.map { StagedWrite.removal(key: $0.key) } ?? write
      var entry = StagedEntry(
        write: taken, ticket: ticket, clearCount: clearCount, batch: batch, condition: instead?.condition)
      let replaced = shard.put(&entry, hash: hash)
      guard let batch, let other = replaced?.batch, other != batch else {
        return (entry, instead == nil, false, replaced, clear)
      }
      links.withLock { $0.join(batch, other) }
      return (entry, instead == nil, true, replaced, clear)
    }
    return change(staging: entry, isStaged: isStaged, joinsBatches: joins, replacing: replaced, clear)
  }

  /// Stages a write that replaces or removes only a record for which the condition holds.
  ///
  /// Calls one of the closures with the shard's lock held.
  ///
  /// - Parameters:
  ///   - write: The write.
  ///   - condition: The condition.
  ///   - exclude: Called with the staged write that the condition excludes.
  ///   - make: Orders the write.
  /// - Returns: The change; nil if a write of the key is staged that the condition excludes, or if `make` returns nil.
  func stage(
    _ write: StagedWrite, if condition: RecordCondition, exclude: (StagedEntry) -> Void,
    make: () -> (ticket: CommitTicket, clearCount: ClearCount)?
  ) -> StagingChange? {
    let hash = StagedWrites.hash(write.key.rawSpan)
    count.add(1, ordering: .sequentiallyConsistent)
    let staged = shard(of: hash).state.withLock { shard -> (StagedEntry, StagedEntry?, Clear?)? in
      let fresh = shard.fresh.entry(forKey: write.key.rawSpan, hash: hash)
      let earlier = fresh ?? shard.committing(write.key.rawSpan, hash: hash)
      // A reader of another record has seen an older state, or one of another process. Otherwise, a use could be lost
      // behind a removal, or a removal that observers know of behind a use. The next reader tries again.
      if let earlier, earlier.clearCount == shard.clearCount, !condition.holds(for: earlier.write) {
        exclude(earlier)
        return nil
      }
      guard let (ticket, clearCount) = make() else { return nil }
      let clear = shard.begin(clearCount)
      let isOfSet = clear == nil && fresh?.write.isSet == true
      var entry = StagedEntry(
        write: write.rewriting(aSetValue: isOfSet), ticket: ticket, clearCount: clearCount, condition: condition)
      // A replaced record is not on disk yet: the condition of the write that would bring it there applies.
      if let fresh, clear == nil { entry.takeCondition(of: fresh) }
      let replaced = shard.put(&entry, hash: hash)
      return (entry, replaced, clear)
    }
    guard let (entry, replaced, clear) = staged else {
      count.subtract(1, ordering: .releasing)
      return nil
    }
    return change(staging: entry, replacing: replaced, clear)
  }

  /// Returns the effect of a staged write, and lowers the number of writes by those that left `fresh`.
  private func change(
    staging entry: StagedEntry, isStaged: Bool = true, joinsBatches: Bool = false, replacing replaced: StagedEntry?,
    _ clear: Clear?
  ) -> StagingChange {
    let left = (replaced == nil ? 0 : 1) + (clear?.count ?? 0)
    if left > 0 { count.subtract(left, ordering: .releasing) }
    return StagingChange(
      ticket: entry.ticket, isStaged: isStaged, joinsBatches: joinsBatches,
      addedBytes: entry.size - (replaced?.size ?? 0) - (clear?.bytes ?? 0), addedCount: 1 - left)
  }

  /// Returns the newest staged write of the key, or nil if the key has none.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - isConcealed: Returns whether an invalidation conceals the write. Called with the shard's lock held: the writer
  ///     thread forgets invalidations after the writes before them have left staging.
  /// - Returns: The write.
  func entry(forKey key: RawSpan, isConcealed: (StagedEntry) -> Bool) -> StagedEntry? {
    let hash = StagedWrites.hash(key)
    return shard(of: hash).state.withLock { shard in
      let committing = shard.committing(key, hash: hash)
      guard var entry = shard.fresh.entry(forKey: key, hash: hash) ?? committing else { return nil }
      if let condition = entry.condition, let committing, committing.clearCount == entry.clearCount {
        if condition.holds(for: committing.write) {
          // The record that a fresh write replaces is being committed. The disk has that record or the one before it,
          // because the write leaves `committing` after its commit.
          entry.condition = committing.condition.map { .either($0, condition) }
        } else {
          entry = committing
        }
      }
      entry.isConcealed = isConcealed(entry)
      return entry
    }
  }

  /// Returns the newest staged write of the key that is no rewrite, or nil if the key has none.
  func entryExceptRewrite(forKey key: RawSpan) -> StagedEntry? {
    let hash = StagedWrites.hash(key)
    return shard(of: hash).state.withLock { shard in
      let entries = [shard.fresh.entry(forKey: key, hash: hash), shard.committing(key, hash: hash)]
      return entries.lazy.compactMap { $0 }.first { !$0.isRewrite }
    }
  }

  /// The keys of all staged records. A removal may concern the tags of a record on disk, and not those of its rewrite.
  ///
  /// A key can occur twice. A record that is being committed counts even if a newer removal is staged or its clear
  /// count is old.
  var recordKeys: [[UInt8]] {
    var keys: [[UInt8]] = []
    for shard in shards {
      shard.state.withLock { shard in
        for writes in [shard.fresh, shard.committing] {
          writes.forEach { entry in
            if case .record(let key, _, _) = entry.write { keys.append(key) }
          }
        }
      }
    }
    return keys
  }

  /// Runs `body` if the key has no write since the last hand-over, apart from rewrites of its record. No write of the
  /// key can be staged while it runs.
  func unlessStagedAnew(_ key: [UInt8], _ body: () -> Void) {
    let hash = StagedWrites.hash(key.rawSpan)
    shard(of: hash).state.withLock { shard in
      if shard.fresh.entry(forKey: key.rawSpan, hash: hash)?.isRewrite ?? true { body() }
    }
  }

  /// Begins a new clear count, which makes the writes of earlier ones void.
  ///
  /// An earlier clear count than the present one has no effect. The caller frees the void writes outside its lock.
  ///
  /// Returns the effect on each shard. The cost does not depend on the number of writes.
  func begin(clearCount: ClearCount) -> [Clear] {
    shards.compactMap { shard in
      let clear = shard.state.withLock { $0.begin(clearCount) }
      if let clear, clear.count > 0 { count.subtract(clear.count, ordering: .releasing) }
      return clear
    }
  }

  func shard(of hash: UInt64) -> ShardLock {
    shards[Int(truncatingIfNeeded: hash >> 61)]
  }
}
