/// What lies behind memory: bytes in, bytes out. LMDB's is the one that ships (a store's own, on disk); a test gives one
/// that fails on purpose, and a server shared by several machines could be another.
///
/// One tier serves all caches of a store; each has a partition of its own.
public protocol SecondTier: AnyObject, Sendable {
  /// Opens the partition of the cache `name`, or begins it; the same partition for the same name.
  ///
  /// `departure` is told of keys that left the tier without being asked to: evicted for room, failed their checksum,
  /// or staged and then not written. It is called outside all locks and transactions, on a thread of the tier's.
  func partition(
    named name: String, departure: @escaping @Sendable ([Departure]) -> Void
  ) throws(CisternError) -> any SecondTierPartition

  /// Returns when everything staged before the call is committed, and durable as far as the store promises. Throws what
  /// kept it from that, also where it was a failure since the last flush that is over.
  func flush() async throws(CisternError)

  /// Flushes, then lets go of every resource. Partitions answer misses and refuse writes from then on.
  func close() async throws(CisternError)

  /// Counts and sizes, as of now. Cheap; takes no transaction.
  var statistics: SecondTierStatistics { get }
}

/// One cache's part of a second tier. Keys are bytes, at any length.
public protocol SecondTierPartition: AnyObject, Sendable {
  /// Takes note of the format that the cache's values are encoded in, before any is written.
  ///
  /// Throws `CisternError` with the code ``CisternError/Code/conflictingOpen`` if records of the same version of the schema
  /// have another format. A tier that keeps no records beyond the process does not need it: by default, every format is
  /// accepted.
  func adopt(_ format: ValueFormat) throws(CisternError)

  /// Calls `body` with the newest record of the key, staged ones first, and marks it as used; nil where there is none.
  ///
  /// The view ends with `body`, which may run inside a read transaction: keep it short.
  func withRecord<Result>(
    forKey key: RawSpan, _ body: (RecordMetadata, RawSpan) throws -> Result
  ) rethrows -> Result?

  /// Whether the key has a record, staged or committed; or had one that departed, until ``endDeparture(of:)``, a newer
  /// write of the key, a removal of all or an invalidation that concerns it. Does not mark it as used.
  func contains(_ key: RawSpan) -> Bool

  /// As ``contains(_:)``, and nil where the tier cannot tell, because it cannot be read for now: a removal must be staged
  /// then, or what cannot be seen comes back.
  ///
  /// A tier that does not implement it can always tell.
  func presence(of key: RawSpan) -> Bool?

  /// The schema version of the key's record, staged or committed; nil if the key has none. Does not mark it as used.
  ///
  /// A tier that does not implement it reads the record.
  func schemaVersion(of key: RawSpan) -> UInt32?

  /// Called by who is told of a key's departure, in the key's critical section: whether the key has had no write since it
  /// departed, and was not removed with others. It is absent from now on. A write in between means that the departure
  /// concerns nobody any more: who made it found the key there (``contains(_:)``), and has told of its end. So has who
  /// removed all, or invalidated what the record's tags or key are concerned by.
  ///
  /// A tier that does not implement it answers whether the key is absent.
  func endDeparture(of key: RawSpan) -> Bool

  /// Takes a write, to be committed with others soon, and read from now on. Neither blocks nor fails: it is called
  /// inside the entry's critical section, so that the order of a key's writes here is their order in memory.
  ///
  /// A write that the tier can never hold is refused, and stands for the removal of the key's older record.
  func stage(_ write: StagedWrite) -> StagingResult

  /// Takes the removal of every record of the partition: none is read from now on, and they are purged behind.
  func stageRemovalOfAll() -> CommitTicket

  /// Invalidates every record with the tag, or whose key has the prefix, that was stamped (``RecordMetadata/era``) with a
  /// lesser number than the one that it answers: from its return on none of them is read, whether it is committed, staged,
  /// or staged later. They are purged behind, and do not depart: whoever invalidates tells of it.
  ///
  /// The numbers of a partition rise, also over restarts. O(1), and as ``stage(_:)`` neither blocks nor fails, and is
  /// called inside critical sections, of all entries at once; what is staged is committed with the other writes, in order. A tier may remove more records than it was asked to, all of them
  /// at most, where it holds more invalidations than it has room for.
  func stageInvalidation(_ invalidation: Invalidation) -> (era: UInt64, ticket: CommitTicket)

  /// The number of the partition's newest invalidation: what a record is to be stamped with whose value begins to be
  /// fetched, or is set, now. Zero before the first. Cheap.
  var currentEra: UInt64 { get }

  /// Whether the tier can take a batch of so many writes, whose keys, values and tags have so many bytes. Ask before the
  /// batch is begun: one that is larger may be lost as a whole.
  func canHold(batchBytes: Int, count: Int) -> Bool

  /// What a batch may take up in the tier, if the tier can say so; for errors.
  var largestBatch: ByteCount? { get }

  /// Begins a batch: what is staged in it becomes one commit, so that a crash leaves all of it or nothing.
  ///
  /// End it soon, with ``endBatch(_:)``, and call nothing of the user's before: no commit begins while a batch is open. May
  /// block the thread for an instant, so call it outside all locks, and have at most one batch open on a thread.
  func beginBatch() -> BatchToken

  /// As ``stage(_:)``, as a part of the batch. A later write of the same key that comes before the commit takes the place
  /// of this one, and is a part of the batch then.
  func stage(_ write: StagedWrite, in batch: BatchToken) -> StagingResult

  /// Ends the batch; the ticket is that of its commit.
  @discardableResult
  func endBatch(_ batch: BatchToken) -> CommitTicket

  /// Waits, blocking the thread, while more is staged than the tier wants to hold. Call it before the write, outside
  /// all locks.
  func waitForRoom()

  /// As ``waitForRoom()``, suspending the task instead.
  func waitForRoom() async

  /// Waits for room, suspending the task, before a write whose commit the caller waits for.
  ///
  /// A tier that fails tries again first, so that it does not refuse the write for a failure that is over.
  func prepareToCommit() async

  /// Returns when what the ticket was given for is committed. Throws when it could not be.
  func waitForCommit(_ ticket: CommitTicket) async throws(CisternError)

  /// The keys whose newest record is staged, or was when this was called: ``forEachRecord(_:)`` does not see them. O(n) for
  /// what is staged.
  var stagedKeys: [[UInt8]] { get }

  /// Calls `body` with the key and metadata of every record, in no particular order, until it returns false. Sees what
  /// was committed when it began, and skips what is staged to be replaced or removed.
  func forEachRecord(_ body: (_ key: RawSpan, RecordMetadata, _ size: Int) throws -> Bool) rethrows

  /// Counts and sizes of this partition, as of now.
  var statistics: SecondTierStatistics { get }

  /// Whether the tier works, as ``statistics`` say too. Cheap: it is asked inside critical sections.
  var mode: SecondTierStatistics.Mode { get }
}

extension SecondTierPartition {
  /// Accepts every format.
  public func adopt(_ format: ValueFormat) {}

  /// None: for a tier that commits at once.
  public var stagedKeys: [[UInt8]] { [] }

  /// Nil: the tier does not say.
  public var largestBatch: ByteCount? { nil }

  /// Waits for room.
  public func prepareToCommit() async { await waitForRoom() }

  /// Whether the key is there.
  public func presence(of key: RawSpan) -> Bool? { contains(key) }

  /// The version in the record's metadata.
  public func schemaVersion(of key: RawSpan) -> UInt32? {
    withRecord(forKey: key) { metadata, _ in metadata.schemaVersion }
  }

  /// Whether the key is absent.
  public func endDeparture(of key: RawSpan) -> Bool { !contains(key) }

  /// What ``statistics`` say.
  public var mode: SecondTierStatistics.Mode { statistics.mode }
}

/// What is written of one key.
public indirect enum StagedWrite: Sendable {
  // Indirect: a record is 150 bytes with three references, handed on a dozen times; in a cache without a second tier, too,
  // every write would carry the room for one.

  /// The key's new record.
  case record(key: [UInt8], RecordMetadata, bytes: [UInt8])
  /// The key's removal.
  case removal(key: [UInt8])

  /// The same write of a value that is newer than the invalidations up to this number.
  ///
  /// - Parameter isSet: whether the value is set, and not fetched.
  @usableFromInline
  func stamped(era: UInt64, isSet: Bool) -> StagedWrite {
    guard case .record(let key, var metadata, let bytes) = self else { return self }
    metadata.era = era
    metadata.isSet = isSet
    return .record(key: key, metadata, bytes: bytes)
  }

  /// The key that is written.
  public var key: [UInt8] {
    switch self {
    case .record(let key, _, _), .removal(let key): key
    }
  }
}

/// What became of a staged write.
public enum StagingResult: Sendable {
  /// It is readable now, and will be committed.
  case staged(CommitTicket)
  /// The tier cannot hold it, now or ever (too large, read-only, closed, failing): the key reads as absent from now on.
  case refused
}

/// A place in the order of staged writes: whoever holds it can wait for its commit.
public struct CommitTicket: Sendable, Hashable, Comparable {
  /// The place, from 1; greater is later.
  public let number: UInt64

  /// Creates a ticket; a user's own second tier counts its own.
  public init(number: UInt64) {
    self.number = number
  }

  /// Orders by place.
  public static func < (left: CommitTicket, right: CommitTicket) -> Bool { left.number < right.number }
}

/// A key that left a tier without being asked to.
public struct Departure: Sendable {
  /// Why it left.
  public enum Cause: Sendable {
    /// It made room for others.
    case evicted
    /// It was damaged, and removed.
    case damaged
    /// It was staged, and could not be written.
    case notWritten
  }

  /// The key's bytes.
  public let key: [UInt8]
  /// Why it left.
  public let cause: Cause

  /// Creates a departure; a user's own second tier makes these too.
  public init(key: [UInt8], cause: Cause) {
    self.key = key
    self.cause = cause
  }
}

/// What a second tier has counted since it was opened, and what it holds now.
public struct SecondTierStatistics: Sendable, Equatable {
  /// Whether the tier works.
  public enum Mode: Sendable, Equatable {
    /// Reads and writes.
    case active
    /// Reads only, as it was opened.
    case readOnly
    /// The disk fails: misses and refusals, until it comes back.
    case degraded
    /// Closed.
    case closed
  }

  /// Whether the tier works.
  public var mode: Mode = .active
  /// Records committed and live, as far as known without a scan.
  public var entryCount: Int = 0
  /// Bytes of the records committed and live: keys, values and their headers.
  public var liveBytes: Int = 0
  /// Bytes that the tier takes up where it is kept (the file's size, for one on disk).
  public var occupiedBytes: Int = 0
  /// The limit on ``occupiedBytes``.
  public var limitBytes: Int = 0
  /// Writes staged and not yet committed.
  public var stagedCount: Int = 0
  /// Reads that found a record.
  public var hits: Int = 0
  /// Reads that did not.
  public var misses: Int = 0
  /// Records committed.
  public var stores: Int = 0
  /// Removals committed.
  public var removals: Int = 0
  /// Commits: groups of writes.
  public var commits: Int = 0
  /// Records evicted for room.
  public var evictions: Int = 0
  /// Writes refused.
  public var refused: Int = 0
  /// Writes that failed after they were staged.
  public var failed: Int = 0
  /// Records found damaged.
  public var damaged: Int = 0

  /// Creates statistics with every count at zero.
  public init() {}
}
