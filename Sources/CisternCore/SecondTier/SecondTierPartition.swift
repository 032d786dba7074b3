/// The part of a second tier that belongs to one cache. Keys are bytes of any length.
///
/// The cache calls ``contains(_:)``, ``acknowledgeLoss(of:)``, ``statistics`` and the methods that stage inside its
/// critical sections. It sometimes also reads a record there, to compare it. These methods must neither block for long
/// nor call the cache. After a method that stages returns, reads show its effect, even if the tier has not committed
/// it.
///
/// The cache decides which values are current. It stages no value whose fetch began before an invalidation of the
/// same process. A tier therefore needs no versions.
public protocol SecondTierPartition: Sendable {
  /// Calls `body` with the newest record of the key.
  ///
  /// A staged record is newer than a committed one. The bytes are valid only during the call of `body`.
  ///
  /// - Parameters:
  ///   - key: The bytes of the key.
  ///   - body: The closure that receives the metadata and the bytes of the record. It is short.
  /// - Returns: The result of `body`, or nil if the key has no record.
  func withRecord<Result>(
    forKey key: RawSpan, _ body: (RecordMetadata, RawSpan) throws -> Result
  ) rethrows -> Result?

  /// Returns whether the key has a record.
  ///
  /// The cache asks before it puts a value that it has read into memory. It does so only if another call has missed the
  /// record, or listed the records, in the meantime. If the record has left, the reader gets the value, and memory does
  /// not keep it. Otherwise, the value would return after another reader has missed it.
  ///
  /// The default implementation reads the record. A tier that counts reads in the order of eviction implements the
  /// method, because the call is not a use of the record. So does a tier whose reads take long.
  ///
  /// - Parameter key: The bytes of the key.
  /// - Returns: Whether the key has a record.
  func contains(_ key: RawSpan) -> Bool

  /// Acknowledges the loss of the key's record, after the tier has reported it (``RecordLoss``).
  ///
  /// The cache calls the method in its critical section of the key. It notifies its observers of the removal if the
  /// result is true. The result is false if the key was written, removed, cleared or invalidated since the loss. That
  /// operation saw the key as present, and has notified the observers.
  ///
  /// The default implementation returns true if the key has no record. That is right for a tier that loses records only
  /// between two writes of a key. A tier that loses them at any time, for example in a separate thread, implements the
  /// method:
  ///
  /// - From the loss on, ``contains(_:)`` returns true for the key, and reads find no record.
  /// - Each method that stages a write or removal of the key ends this state.
  /// - So does this method. It returns whether the key was in this state.
  /// - ``schemaVersion(ofLost:)`` returns the version of the lost record.
  ///
  /// Otherwise, a write between the loss and its report takes the key for absent. Observers then receive the insertion
  /// of a present key, or two removals of one value.
  ///
  /// - Parameter key: The bytes of the key.
  /// - Returns: Whether the cache must notify its observers of the loss.
  func acknowledgeLoss(of key: RawSpan) -> Bool

  /// Returns the schema version of a lost record whose loss is not acknowledged.
  ///
  /// A record of a newer version is absent for the cache and its observers, also after its loss (``CacheSchema``). The
  /// cache calls the method in its critical section of the key, if ``contains(_:)`` is true. A result other than nil
  /// says that no read finds a record. The cache then puts no value that it has read before into memory.
  ///
  /// The default implementation returns nil. The cache then takes the lost record for one that it could read. A tier
  /// that implements ``acknowledgeLoss(of:)`` also implements this method. Otherwise, a value can return to memory
  /// after a reader has missed it.
  ///
  /// - Parameter key: The bytes of the key.
  /// - Returns: The schema version (``RecordMetadata/schemaVersion``), or nil if the key has no lost record.
  func schemaVersion(ofLost key: RawSpan) -> UInt32?

  /// Stages a write. Reads return it from now on, and the tier commits it soon.
  ///
  /// The tier receives the writes of a key in the order in which memory applies them. If the tier can never hold the
  /// record, it refuses the write, and removes the key's older record.
  ///
  /// - Parameter write: The new record, or the removal.
  /// - Returns: The ticket to wait for the commit, or a refusal.
  func stage(_ write: StagedWrite) -> StagingResult

  /// Stages the removal of all records of the partition. No read returns these records from now on.
  ///
  /// - Returns: The ticket to wait for the commit.
  func stageRemovalOfAll() -> CommitTicket

  /// Whether ``stageRemoval(of:)`` removes exactly the records that an invalidation concerns.
  ///
  /// If it is false, a removal by tag or prefix removes all keys of the cache from both tiers, as
  /// ``Cache/removeAll(context:)`` does. Observers receive ``Change/Event/cleared``, and ``ChangeSet/isWidened`` is
  /// true. The default is false. The value must not change.
  var invalidatesExactly: Bool { get }

  /// Stages the removal of all records that an invalidation concerns. No read returns these records from now on.
  ///
  /// ``Invalidation/concerns(key:tags:)`` compares a record with the invalidation. The cache calls the method only if
  /// ``invalidatesExactly`` is true. The default implementation removes all records of the partition.
  ///
  /// - Parameter invalidation: The tag or the prefix.
  /// - Returns: The ticket to wait for the commit.
  func stageRemoval(of invalidation: Invalidation) -> CommitTicket

  /// Waits until the write of the ticket is committed. The method returns at once if the tier commits each write when
  /// it is staged.
  ///
  /// - Parameter ticket: The ticket of a staged write or removal.
  /// - Throws: `CisternError` if the write could not be committed.
  func waitForCommit(_ ticket: CommitTicket) async throws(CisternError)

  /// Calls `body` with the key, the metadata, and the size of every record, in no particular order.
  ///
  /// The enumeration includes staged records. It can include or omit a record that is written or lost during the call.
  /// The cache adds the keys that memory holds after the call. The tier must hold no lock while it calls `body`.
  ///
  /// If the state of the tier is ``SecondTierStatistics/Mode-swift.enum/degraded``, the enumeration counts as
  /// incomplete. `removeAll(where:)` then removes all records (``stageRemovalOfAll()``).
  ///
  /// - Parameter body: The closure that receives a record. It returns false to end the enumeration.
  func forEachRecord(_ body: (_ key: RawSpan, RecordMetadata, _ size: Int) throws -> Bool) rethrows

  /// The current counters and sizes of the partition, and the state of the tier. Reading them is cheap.
  ///
  /// The cache uses ``SecondTierStatistics/mode-swift.property`` only. The other values appear in the statistics of the
  /// cache.
  var statistics: SecondTierStatistics { get }
}

extension SecondTierPartition {
  /// Returns whether a read finds a record of the key.
  public func contains(_ key: RawSpan) -> Bool {
    withRecord(forKey: key) { _, _ in true } ?? false
  }

  /// Returns whether the key has no record.
  public func acknowledgeLoss(of key: RawSpan) -> Bool { !contains(key) }

  /// Nil: the tier does not know the versions of lost records.
  public func schemaVersion(ofLost key: RawSpan) -> UInt32? { nil }

  /// False: the tier removes all records of the partition.
  public var invalidatesExactly: Bool { false }

  /// Stages the removal of all records of the partition, as ``stageRemovalOfAll()`` does.
  public func stageRemoval(of invalidation: Invalidation) -> CommitTicket { stageRemovalOfAll() }
}
