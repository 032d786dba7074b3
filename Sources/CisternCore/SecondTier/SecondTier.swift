/// A tier behind memory, which stores records as bytes.
///
/// A ``Store`` has a second tier on disk. Your own type can implement this protocol. Examples are a server that
/// several machines share, and a tier that injects failures in a test.
///
/// One tier serves all caches of a store. Each cache has its own partition of the tier.
public protocol SecondTier: AnyObject, Sendable {
  /// Opens the partition of a cache, or creates it if the tier does not have it.
  ///
  /// Equal names denote the same partition.
  ///
  /// - Parameters:
  ///   - name: The name of the cache.
  ///   - departure: The handler of record losses. The tier calls it when a record was evicted, failed its checksum,
  ///     or was staged and could not be written. The tier calls it on one of its threads, outside all locks and
  ///     transactions.
  /// - Returns: The partition of the cache.
  /// - Throws: `CisternError` if the name is not valid for the tier, or if the tier is closed.
  func partition(
    named name: String, departure: @escaping @Sendable ([Departure]) -> Void
  ) throws(CisternError) -> any SecondTierPartition

  /// Waits until every write that was staged before the call is committed, and is as durable as the store promises.
  ///
  /// - Throws: `CisternError` if a write since the last flush could not be committed, even if the tier works again.
  func flush() async throws(CisternError)

  /// Flushes the staged writes, and releases all resources.
  ///
  /// Afterwards, reads of the partitions are misses, and the partitions refuse writes.
  ///
  /// - Throws: `CisternError` if the flush fails. The tier is closed nevertheless.
  func close() async throws(CisternError)

  /// The current counters and sizes of the tier. Reading them is cheap, and takes no transaction.
  var statistics: SecondTierStatistics { get }
}

/// The part of a second tier that belongs to one cache. Keys are bytes of any length.
public protocol SecondTierPartition: AnyObject, Sendable {
  /// Registers the format in which the cache encodes its values. The cache calls it before it writes a record.
  ///
  /// A tier that does not keep records after the process ends does not need this method. The default implementation
  /// accepts every format.
  ///
  /// - Parameter format: The codec of the cache, and the version of its schema.
  /// - Throws: `CisternError` with the code ``CisternError/Code/conflictingOpen`` if the tier has records of the
  ///   same schema version in another format.
  func adopt(_ format: ValueFormat) throws(CisternError)

  /// Calls `body` with the newest record of the key, and counts the call as a use of the record.
  ///
  /// A staged record is newer than a committed one. The bytes are valid only during the call of `body`. A read
  /// transaction can be open during the call, so `body` must be short.
  ///
  /// - Parameters:
  ///   - key: The bytes of the key.
  ///   - body: The closure that receives the metadata and the bytes of the record.
  /// - Returns: The result of `body`, or nil if the key has no record.
  func withRecord<Result>(
    forKey key: RawSpan, _ body: (RecordMetadata, RawSpan) throws -> Result
  ) rethrows -> Result?

  /// Returns whether the key has a staged or committed record. The call does not count as a use of the record.
  ///
  /// The result is also true for a lost record until ``endDeparture(of:)`` acknowledges the loss. A newer write of
  /// the key, a removal of all records, or an invalidation of the record ends this state earlier.
  ///
  /// - Parameter key: The bytes of the key.
  func contains(_ key: RawSpan) -> Bool

  /// Returns whether the key has a record, as ``contains(_:)`` does, or nil if the tier currently cannot read the
  /// key.
  ///
  /// If the result is nil, a removal must be staged. Otherwise, a record that cannot be read now could be read
  /// again later. The default implementation never returns nil.
  ///
  /// - Parameter key: The bytes of the key.
  func presence(of key: RawSpan) -> Bool?

  /// Returns the schema version of the key's staged, committed or departing record. The call does not count as a use of the
  /// record.
  ///
  /// The default implementation reads the whole record.
  ///
  /// - Parameter key: The bytes of the key.
  /// - Returns: The schema version, or nil if the key has no record.
  func schemaVersion(of key: RawSpan) -> UInt32?

  /// Acknowledges the loss of the key's record. From this call on, the key is absent.
  ///
  /// The cache calls it in the key's critical section, after the tier has reported the loss. The result tells
  /// whether the cache must report the removal to its observers:
  ///
  /// - If the key was written since the loss, the result is false. The writer saw the key as present
  ///   (``contains(_:)``), and has reported the end of the lost value.
  /// - If all records were removed, or an invalidation covered the record, the result is false. That operation has
  ///   reported the removal.
  /// - Otherwise, the result is true.
  ///
  /// The default implementation returns whether the key is absent.
  ///
  /// - Parameter key: The bytes of the key.
  /// - Returns: Whether the key has not been written, cleared, or invalidated since its record was lost.
  func endDeparture(of key: RawSpan) -> Bool

  /// Whether some key has departed, and ``endDeparture(of:)`` has not been called for it since. Cheap: called in critical
  /// sections, before each promotion to memory.
  ///
  /// A tier that does not implement it answers false.
  var hasDepartures: Bool { get }

  /// Whether the key has departed, and ``endDeparture(of:)`` has not been called for it since. Called in critical sections.
  ///
  /// A tier that does not implement it answers false.
  func isDeparting(_ key: RawSpan) -> Bool

  /// Stages a write. Reads return it from now on, and the tier commits it soon, together with other writes.
  ///
  /// The cache calls it in the entry's critical section. The tier therefore receives the writes of a key in the
  /// order in which memory applies them. The method must neither block nor call back.
  ///
  /// If the tier can never hold the record, it refuses the write, and removes the key's older record.
  ///
  /// - Parameter write: The new record, or the removal.
  /// - Returns: The ticket to wait for the commit, or a refusal.
  func stage(_ write: StagedWrite) -> StagingResult

  /// As ``stage(_:)``, and drops the write if the key's record is not this one, now or when the write is committed.
  ///
  /// A cache rewrites and removes records that it has read. Another process may have replaced such a record since: the
  /// newer record stays, and reads return it. The result is ``StagingResult/staged(_:)`` also for a write that was dropped.
  ///
  /// A removal ends the departure of its key, as ``stage(_:)`` does. A tier that only one process writes need not implement
  /// it: by default, the write is staged without a condition.
  func stage(_ write: StagedWrite, replacing record: RecordIdentity) -> StagingResult

  /// Stages the removal of a record whose lifetime and grace have ended. Drops the removal if the key's record has not ended
  /// (``RecordMetadata/hasEnded(by:)``), now or when the removal is committed.
  ///
  /// A cache calls it when its copy in memory expires. Another process may have written or used the record since: that
  /// record stays, and reads return it. The result is ``StagingResult/staged(_:)`` also for a removal that was dropped.
  ///
  /// The removal ends the departure of its key, as ``stage(_:)`` does. A tier that only one process writes need not implement
  /// it: by default, the removal is staged without a condition.
  ///
  /// - Parameters:
  ///   - key: The bytes of the key.
  ///   - time: The time of day in the cache.
  func stageRemoval(of key: [UInt8], ifEndedBy time: WallTime) -> StagingResult

  /// Stages the removal of all records of the partition.
  ///
  /// No read returns these records from now on. The tier deletes them in the background.
  ///
  /// - Returns: The ticket to wait for the commit.
  func stageRemovalOfAll() -> CommitTicket

  /// Invalidates the matching records that are older than the new invalidation version.
  ///
  /// A record matches if it has the tag, or if its key has the prefix. It is older if its version
  /// (``RecordMetadata/era``) is less than the returned one. After the return, no read returns such a record, even
  /// if it is staged later. The tier deletes these records in the background, and does not report them as losses.
  /// The caller notifies the observers.
  ///
  /// The versions of a partition increase, also across restarts. The tier commits the invalidation in order with
  /// the staged writes. If the tier has no room for more invalidations, it can remove more records than match, up
  /// to all of them.
  ///
  /// Like ``stage(_:)``, the method must not block. The cache calls it inside the critical sections of all entries.
  ///
  /// - Parameter invalidation: The tag or the prefix.
  /// - Returns: The new invalidation version, and the ticket to wait for the commit.
  /// - Complexity: O(1).
  func stageInvalidation(_ invalidation: Invalidation) -> (era: UInt64, ticket: CommitTicket)

  /// The newest invalidation version of the partition, or zero before the first invalidation.
  ///
  /// A record gets this version when its value is set, or when the fetch of its value begins. Reading it is cheap.
  var currentEra: UInt64 { get }

  /// Returns whether the tier can commit a batch of this size. Ask before the batch begins: a larger batch can be
  /// lost as a whole.
  ///
  /// - Parameters:
  ///   - batchBytes: The total size in bytes of the keys, values, and tags.
  ///   - count: The number of writes.
  func canHold(batchBytes: Int, count: Int) -> Bool

  /// The largest size of a batch, or nil if the tier does not state it. It appears in error messages.
  var largestBatch: ByteCount? { get }

  /// Begins a batch of writes that become one commit. After a crash, the tier has either all of them or none.
  ///
  /// End the batch soon with ``endBatch(_:)``, and do not call user code while it is open: no commit begins during
  /// that time. The call can block the thread briefly, so call it outside all locks. A thread can have only one
  /// open batch.
  func beginBatch() -> BatchToken

  /// Stages a write, as ``stage(_:)`` does, as a part of the batch.
  ///
  /// A later write of the same key before the commit replaces this write, and becomes a part of the batch.
  ///
  /// - Parameters:
  ///   - write: The new record, or the removal.
  ///   - batch: The open batch.
  /// - Returns: The ticket to wait for the commit, or a refusal.
  func stage(_ write: StagedWrite, in batch: BatchToken) -> StagingResult

  /// Ends the batch.
  ///
  /// - Parameter batch: The open batch.
  /// - Returns: The ticket of the batch's commit.
  @discardableResult
  func endBatch(_ batch: BatchToken) -> CommitTicket

  /// Blocks the thread while the tier holds more staged writes than its bound. Call it before a write, outside all
  /// locks.
  func waitForRoom()

  /// Suspends the task while the tier holds more staged writes than its bound. Call it before a write.
  func waitForRoom() async

  /// Suspends the task until the tier has room for a write whose commit the caller waits for.
  ///
  /// A degraded tier first tries whether it works again. Otherwise, it could refuse the write for a failure that is
  /// over.
  func prepareToCommit() async

  /// Waits until the write of the ticket is committed.
  ///
  /// - Parameter ticket: The ticket of a staged write, a removal, an invalidation, or a batch.
  /// - Throws: `CisternError` if the write could not be committed.
  func waitForCommit(_ ticket: CommitTicket) async throws(CisternError)

  /// The keys that had a staged record at the time of the call. ``forEachRecord(_:)`` skips these keys.
  ///
  /// - Complexity: O(*n*), where *n* is the number of staged writes.
  var stagedKeys: [[UInt8]] { get }

  /// Calls `body` with the key, the metadata, and the size of every committed record, in no particular order.
  ///
  /// The enumeration skips keys with a staged write. It can include or omit a record that is committed during the
  /// call.
  ///
  /// - Parameter body: The closure that receives a record. It returns false to end the enumeration.
  func forEachRecord(_ body: (_ key: RawSpan, RecordMetadata, _ size: Int) throws -> Bool) rethrows

  /// The current counters and sizes of the partition.
  var statistics: SecondTierStatistics { get }

  /// The state of the tier, as in ``statistics``. Reading it is cheap; the cache reads it inside critical sections.
  var mode: SecondTierStatistics.Mode { get }
}

extension SecondTierPartition {
  /// Accepts every format.
  public func adopt(_ format: ValueFormat) {}

  /// An empty array, for a tier that commits each write at once.
  public var stagedKeys: [[UInt8]] { [] }

  /// Nil: the tier does not state a limit.
  public var largestBatch: ByteCount? { nil }

  /// Waits for room, as ``waitForRoom()`` does.
  public func prepareToCommit() async { await waitForRoom() }

  /// Returns whether the key has a record, as ``contains(_:)`` does.
  public func presence(of key: RawSpan) -> Bool? { contains(key) }

  /// Returns the schema version in the record's metadata, or nil if the key has no record.
  public func schemaVersion(of key: RawSpan) -> UInt32? {
    withRecord(forKey: key) { metadata, _ in metadata.schemaVersion }
  }

  /// Returns whether the key is absent.
  public func endDeparture(of key: RawSpan) -> Bool { !contains(key) }

  /// False.
  public var hasDepartures: Bool { false }

  /// False.
  public func isDeparting(_ key: RawSpan) -> Bool { false }

  /// The mode in ``statistics``.
  public var mode: SecondTierStatistics.Mode { statistics.mode }
}

/// A write of one key that is staged in a second tier.
public indirect enum StagedWrite: Sendable {
  // Indirect, because the payload of a record is large and every write passes it through many calls. Without
  // indirection, writes of a cache without a second tier would also carry its space.

  /// A new record of the key.
  case record(key: [UInt8], RecordMetadata, bytes: [UInt8])
  /// The removal of the key.
  case removal(key: [UInt8])

  /// Returns the same write with the invalidation version `era`. A removal has no version, and is returned
  /// unchanged.
  ///
  /// - Parameter isSet: Whether the value was set rather than fetched.
  @usableFromInline
  func stamped(era: UInt64, isSet: Bool) -> StagedWrite {
    guard case .record(let key, var metadata, let bytes) = self else { return self }
    metadata.era = era
    metadata.isSet = isSet
    return .record(key: key, metadata, bytes: bytes)
  }

  /// The bytes of the key.
  public var key: [UInt8] {
    switch self {
    case .record(let key, _, _), .removal(let key): key
    }
  }
}

/// The result of staging a write.
public enum StagingResult: Sendable {
  /// The write is staged. Reads return it, and the tier will commit it.
  case staged(CommitTicket)
  /// The tier does not take the write. Reads take the key as absent.
  ///
  /// The record is too large, an invalidation already covers it, or the tier is read-only, failing, or closed.
  case refused
}

/// The position of a write in the order of all staged writes. The holder can wait for the commit of the write.
public struct CommitTicket: Sendable, Hashable, Comparable {
  /// The position, from 1. A later write has a greater number.
  public let number: UInt64

  /// Creates a ticket. A second tier of your own assigns its own numbers.
  ///
  /// - Parameter number: The position in the order of the tier's writes.
  public init(number: UInt64) {
    self.number = number
  }

  /// Returns whether the left write was staged before the right one.
  public static func < (left: CommitTicket, right: CommitTicket) -> Bool { left.number < right.number }
}

/// A record loss: a record that left the tier without a removal by the user.
public struct Departure: Sendable {
  /// The reason for a record loss.
  public enum Cause: Sendable {
    /// The tier evicted the record to make room for others.
    case evicted
    /// The record was damaged, and the tier removed it.
    case damaged
    /// The record was staged, and could not be written.
    case notWritten
  }

  /// The bytes of the key.
  public let key: [UInt8]
  /// The reason for the loss.
  public let cause: Cause
  /// The schema version of the record that left. Observers are not notified of a newer version's record.
  public let schemaVersion: UInt32

  /// Creates a record loss. A second tier of your own creates these too.
  ///
  /// - Parameters:
  ///   - key: The bytes of the key.
  ///   - cause: The reason for the loss.
  public init(key: [UInt8], cause: Cause, schemaVersion: UInt32 = 0) {
    self.key = key
    self.cause = cause
    self.schemaVersion = schemaVersion
  }
}

/// The counters of a second tier since it was opened, and its current sizes.
public struct SecondTierStatistics: Sendable, Equatable {
  /// The operating state of a second tier.
  public enum Mode: Sendable, Equatable {
    /// The tier reads and writes.
    case active
    /// The tier was opened for reading only.
    case readOnly
    /// The disk fails. Reads are misses, and writes are refused, until the disk works again.
    case degraded
    /// The tier is closed.
    case closed
  }

  /// The operating state.
  public var mode: Mode = .active
  /// The number of live committed records, as far as known without a scan.
  public var entryCount: Int = 0
  /// The bytes of the live committed records: keys, values, and headers.
  public var liveBytes: Int = 0
  /// The bytes that the tier occupies in its storage, such as the size of its file on disk.
  public var occupiedBytes: Int = 0
  /// The limit of ``occupiedBytes``.
  public var limitBytes: Int = 0
  /// The number of writes that are staged and not yet committed.
  public var stagedCount: Int = 0
  /// The number of reads that found a record.
  public var hits: Int = 0
  /// The number of reads that found no record.
  public var misses: Int = 0
  /// The number of committed records.
  public var stores: Int = 0
  /// The number of committed removals.
  public var removals: Int = 0
  /// The number of commits. One commit contains a group of writes.
  public var commits: Int = 0
  /// The number of records that were evicted to make room.
  public var evictions: Int = 0
  /// The number of refused writes.
  public var refused: Int = 0
  /// The number of writes that failed after they were staged.
  public var failed: Int = 0
  /// The number of records that were found damaged.
  public var damaged: Int = 0

  /// Creates statistics with zero in every counter.
  public init() {}
}
