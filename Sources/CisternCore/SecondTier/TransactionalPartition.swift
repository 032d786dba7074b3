/// A partition with everything that a cache asks of its second tier: conditional writes, atomic batches, record losses,
/// invalidation versions, and limits on staged writes.
///
/// The tier on disk implements it. ``AdaptedPartition`` makes one of every other partition.
///
/// ``SecondTierPartition/contains(_:)`` is also true for a lost record until
/// ``SecondTierPartition/acknowledgeLoss(of:)``. A newer write of the key, a removal of all records, or an invalidation
/// of the record ends this state earlier.
@usableFromInline
package protocol TransactionalPartition: SecondTierPartition, AnyObject {
  /// Registers the format in which the cache encodes its values. An opening calls it before the cache is entered.
  ///
  /// From then on, no opening can register another codec for the version. An opening that succeeds confirms its format
  /// before the cache writes a record. An opening that fails calls ``unregister(_:)`` instead.
  ///
  /// - Parameter format: The codec of the cache, and the version of its schema.
  /// - Returns: The registration of the format, or nil if the tier keeps no formats.
  /// - Throws: `CisternError` with the code ``CisternError/Code/conflictingOpen`` if the tier has records of the
  ///   same schema version in another format.
  @discardableResult
  func register(_ format: ValueFormat) throws(CisternError) -> FormatRegistration?

  /// Takes back one opening, because it has failed. The tier forgets the format with its last opening.
  ///
  /// - Parameter format: The format of the opening.
  func unregister(_ format: ValueFormat)

  /// Returns whether another process has named another codec than this one's for the records of a schema version.
  ///
  /// The cache asks only about a record that it cannot decode, outside all locks. It leaves such a record.
  func namesOtherCodec(forVersion schemaVersion: UInt32) -> Bool

  /// The state of the tier. Reading it is cheap; the cache reads it inside critical sections.
  var mode: SecondTierStatistics.Mode { get }

  // MARK: Reading

  /// Returns whether the key has a record, as ``SecondTierPartition/contains(_:)`` does, or nil if the tier currently
  /// cannot read the key.
  ///
  /// If the result is nil, a removal must be staged. Otherwise, a record that cannot be read now could be read
  /// again later.
  ///
  /// - Parameter key: The bytes of the key.
  /// - Returns: Whether the key has a record; nil if the tier cannot read it.
  func presence(of key: RawSpan) -> Bool?

  /// Returns the schema version of the key's staged, committed or lost record. The call does not count as a use of the
  /// record.
  ///
  /// - Parameter key: The bytes of the key.
  /// - Returns: The schema version, or nil if the key has no record.
  func schemaVersion(of key: RawSpan) -> UInt32?

  /// The keys that had a staged record at the time of the call.
  ///
  /// ``SecondTierPartition/forEachRecord(_:)`` of a tier with such keys enumerates committed records only.
  ///
  /// - Complexity: O(*n*), where *n* is the number of staged writes.
  var stagedKeys: [[UInt8]] { get }

  /// Calls `body` with each record as ``SecondTierPartition/forEachRecord(_:)`` does.
  ///
  /// - Parameter body: The closure that receives a record. It returns false to end the enumeration.
  /// - Returns: False if the tier has records that it cannot read now, and can find again later.
  func listRecords(_ body: (_ key: RawSpan, RecordMetadata, _ size: Int) throws -> Bool) rethrows -> Bool

  /// Returns the key's place in the order of ``records(in:)``.
  ///
  /// - Parameter key: The bytes of the key.
  /// - Returns: The place.
  func position(of key: RawSpan) -> KeyPosition

  /// Returns the next records of the partition in the order of their positions, without their values.
  ///
  /// The records are those of one instant during the call, or newer. A record whose key has a staged write may be
  /// missing; ``stagedKeys`` has its key. The call does not count as a use of the records, and does not verify the
  /// bytes of their values.
  ///
  /// - Parameter range: The part to return. Its limit bounds the read transaction.
  /// - Returns: The records, and the place after them.
  /// - Throws: `CisternError` if the tier is closed or cannot be read.
  func records(in range: RecordRange) throws(CisternError) -> RecordChunk

  /// Whether each call of ``records(in:)`` lists all records of the partition, so that an enumeration keeps them.
  var listsAllRecords: Bool { get }

  /// Returns the metadata of the key's record, staged or committed, or nil if a read finds none.
  ///
  /// - Parameter key: The bytes of the key.
  /// - Returns: The metadata; nil if a read finds no record.
  func metadata(of key: RawSpan) -> RecordMetadata?

  // MARK: Record losses

  /// Whether the loss of some record may be unacknowledged. Cheap: called in critical sections, before each promotion
  /// to memory.
  var hasLostKeys: Bool { get }

  /// The keys whose record was lost, and whose loss is not acknowledged.
  var lostKeys: [[UInt8]] { get }

  /// Whether ``lostKeys`` has each unacknowledged loss.
  ///
  /// Otherwise, an enumeration compares the records with the keys that memory holds after it has read them.
  var listsLostKeys: Bool { get }

  /// Returns whether the key's record was lost, and the loss is not acknowledged. Called in critical sections.
  func isLost(_ key: RawSpan) -> Bool

  // MARK: Losses of all records

  /// Whether the cache must remove all records, because the tier can keep no more single removals or invalidations, or
  /// cannot list its keys.
  ///
  /// The tier sets it while it stages. The cache calls ``SecondTierPartition/stageRemovalOfAll()`` in the critical
  /// sections of all entries, and notifies observers. For a write, it does so after the key's critical section. For an
  /// invalidation, it does so inside the critical sections in which it staged the invalidation, because the
  /// invalidation is not in force.
  ///
  /// Reading it is cheap; the cache reads it after each write.
  var mustRemoveAll: Bool { get }

  /// Makes ``mustRemoveAll`` true until the next removal of all records.
  ///
  /// The cache calls it if it must remove records whose keys the tier cannot list.
  func requireRemovalOfAll()

  /// Whether the tier lost all committed records, and the cache has not acknowledged that. Staged writes are intact.
  ///
  /// The tier sets it before a read can miss a record, and then calls the loss handler with an empty list.
  var hasLostFile: Bool { get }

  /// Acknowledges the loss of all committed records. Called in the critical sections of all entries. Returns whether it
  /// was not acknowledged before.
  func acknowledgeFileLoss() -> Bool

  // MARK: Conditional writes

  /// Stages a write as ``SecondTierPartition/stage(_:)`` does, under a condition.
  ///
  /// Drops the write if the condition does not hold for the key's record, now or at the commit.
  ///
  /// Another process may have replaced or used the record since a cache read it, or since the cache's copy in memory
  /// expired. That record stays, and reads return it.
  ///
  /// A removal acknowledges the loss of its key, as ``SecondTierPartition/stage(_:)`` does. It does so also if it is
  /// dropped, unless a record is staged that the condition excludes.
  ///
  /// - Parameters:
  ///   - write: The new record, or the removal.
  ///   - condition: The records that the write may replace or remove.
  /// - Returns: The result of the staging.
  func stage(_ write: StagedWrite, if condition: RecordCondition) -> ConditionalStagingResult

  // MARK: Invalidations

  /// Invalidates the matching records that are older than the new invalidation version.
  ///
  /// A record matches if it has the tag, or if its key has the prefix. It is older if its version
  /// (``RecordMetadata/invalidationVersion``) is less than the returned one. After the return, no read returns such a
  /// record, even if it is staged later. The tier deletes these records in the background, and does not report them as
  /// losses. The caller notifies the observers.
  ///
  /// The versions of a partition increase, also across restarts. The tier commits the invalidation in order with
  /// the staged writes. If the tier has no room for more invalidations, the invalidation is not in force, and
  /// ``mustRemoveAll`` is true.
  ///
  /// The method must not block. The cache calls it inside the critical sections of all entries.
  ///
  /// - Parameter invalidation: The tag or the prefix.
  /// - Returns: The new invalidation version, and the ticket to wait for the commit.
  /// - Complexity: O(1).
  func stageInvalidation(_ invalidation: Invalidation) -> (version: InvalidationVersion, ticket: CommitTicket)

  /// Stages an invalidation, as ``stageInvalidation(_:)`` does, as a part of an invalidation of several partitions.
  ///
  /// - Parameters:
  ///   - invalidation: The tag or the prefix.
  ///   - batch: The batch of ``TransactionalTier/beginInvalidating()``.
  /// - Returns: The new invalidation version, and the ticket to wait for the commit.
  func stageInvalidation(
    _ invalidation: Invalidation, in batch: BatchToken
  ) -> (version: InvalidationVersion, ticket: CommitTicket)

  /// The newest invalidation version of the partition, or zero before the first invalidation.
  ///
  /// A record gets this version when its value is set, or when the fetch of its value begins. Reading it is cheap.
  var invalidationVersion: InvalidationVersion { get }

  // MARK: Batches

  /// Returns whether the tier can commit a batch of this size. Ask before the batch begins: a larger batch can be
  /// lost as a whole.
  ///
  /// - Parameters:
  ///   - batchBytes: The total size in bytes of the keys, values, and tags.
  ///   - count: The number of writes.
  /// - Returns: Whether the tier can commit the batch.
  func canHold(batchBytes: Int, count: Int) -> Bool

  /// Returns whether the tier can hold a write at all.
  ///
  /// - Parameter write: The new record, or the removal.
  /// - Returns: Whether the tier can hold the write, alone or in a batch.
  func canHold(_ write: StagedWrite) -> Bool

  /// Returns the reason why the tier can never hold a write that it has refused. An inactive tier can have refused it
  /// for another reason, too.
  ///
  /// - Parameter write: The new record, or the removal.
  /// - Returns: The reason; nil if the tier could hold the write.
  func excess(ofRefused write: StagedWrite) -> WriteExcess?

  /// The largest size of a batch, or nil if the tier does not state it. It appears in error messages.
  var largestBatch: ByteCount? { get }

  /// The largest size of a write, or nil if the tier does not state it. It appears in error messages.
  var largestWrite: ByteCount? { get }

  /// Begins a batch of writes that become one commit. After a crash, the tier has either all of them or none.
  ///
  /// End the batch soon with ``endBatch(_:)``, and do not call user code while it is open: no commit begins during
  /// that time. The call can block the thread briefly, so call it outside all locks. A thread can have only one
  /// open batch.
  func beginBatch() -> BatchToken

  /// Returns the mode in which the tier stages the writes of an open batch.
  ///
  /// If the mode is active, the tier takes all writes of the batch that ``canHold(_:)`` permits. A close or a failure
  /// during the batch does not change that.
  ///
  /// - Parameter batch: The open batch.
  /// - Returns: The mode.
  func mode(in batch: BatchToken) -> SecondTierStatistics.Mode

  /// Stages a write, as ``SecondTierPartition/stage(_:)`` does, as a part of the batch.
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

  // MARK: Limits on staged writes

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
}

extension TransactionalPartition {
  package func unregister(_ format: ValueFormat) {}

  package func listRecords(_ body: (_ key: RawSpan, RecordMetadata, _ size: Int) throws -> Bool) rethrows -> Bool {
    let wasReadable = mode != .degraded
    try forEachRecord(body)
    return wasReadable && mode != .degraded
  }

  package var listsAllRecords: Bool { false }

  package var hasLostFile: Bool { false }

  package func acknowledgeFileLoss() -> Bool { false }

  package var lostKeys: [[UInt8]] { [] }

  package var listsLostKeys: Bool { true }

  package func canHold(_ write: StagedWrite) -> Bool { canHold(batchBytes: write.stagedSize, count: 1) }

  package func mode(in batch: BatchToken) -> SecondTierStatistics.Mode { mode }

  package func stageInvalidation(
    _ invalidation: Invalidation, in batch: BatchToken
  ) -> (version: InvalidationVersion, ticket: CommitTicket) {
    let staged = stageInvalidation(invalidation)
    batch.note(staged.ticket)
    return staged
  }
}
