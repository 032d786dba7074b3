import Cistern
import CisternTesting
import CisternTestSupport
import Locking

@testable import CisternCore

/// The cache of one trial, its surroundings, and the state that the trial's operations share.
struct Arena: Sendable {
  static let key = "a/key"
  static let prefix = "a/"
  static let tag = "tag"
  static let bystander = "b/bystander"
  /// A key without a value when the trial begins.
  static let absentKey = "c/absent"
  /// A key that only loads inside callbacks use.
  static let nestedKey = "c/nested"
  static let otherPrefix = "b/"
  static let otherTag = "other tag"
  static let partition = "documents"
  static let otherPartition = "other documents"

  /// Returns the tag of a key's values.
  static func tag(ofKey key: String) -> String { key == bystander ? otherTag : tag }

  static let lifetime = Duration.seconds(10)
  static let grace = Duration.seconds(100_000)
  static let refreshFraction = 0.8
  /// The time to idle of a value whose next use is written to disk.
  static let idleTime = Duration.seconds(9)
  /// The time after the lifetime in which a load returns the value at once, in a cache with separate windows.
  static let revalidation = Duration.seconds(20)
  static let openDuration = Duration.seconds(1)
  static let retryInterval = Duration.seconds(60)
  static let timeout = Duration.seconds(5)

  let kind: CacheKind
  let cache: Cache<String, Document>
  /// Another cache of the store, for operations on both. It is nil if the combination has none.
  let other: Cache<String, Document>?
  let store: Store?
  /// The second tier that the trial controls. It is nil in a memory-only cache and over a real disk.
  let tier: (any TrialTier)?
  let clock = ManualClock()
  let executor: (any TaskExecutor)?
  let journal = Journal()
  let audit = DocumentAudit()
  /// The consumers of the cache's contents.
  let contents = Recorder<ContentsAudit>()
  let followers = Recorder<Task<Void, Never>>()
  let checkpoint: Checkpoint
  /// The tags that dependent writes specify. It is nil if the key already has a value, whose tags must be kept.
  let tagsOfDependentWrites: [String]?
  /// The tasks of the first operation's callers, for cancellation.
  let callers = Recorder<Task<Void, Never>>()
  /// The gate at which held fetches wait until the operation opens it.
  let hold = Gate()
  /// Whether values have a time to idle.
  let isIdling: Bool
  /// The schema of the cache, if it is not the default.
  let schema: CacheSchema<Document>?
  /// The file of a read-only store, as the store found it.
  let file: ReadOnlyFile?

  /// The storage under the cache.
  enum Backing: Sendable {
    /// A tier without threads, for a seeded schedule.
    case seeded(SeededExecutor, FaultInjectingTier.CommitMode)
    /// A store in a directory on disk.
    case directory(String)
  }

  init(for combination: Combination, over backing: Backing, checkpoint: Checkpoint) async throws {
    let kind = combination.kind
    self.kind = kind
    self.checkpoint = checkpoint
    tagsOfDependentWrites = combination.situation.hasValue ? nil : [Self.tag]
    var configuration = Store.Configuration.ignoringMemoryPressure(clock: clock)
    switch backing {
    case .seeded(let executor, let mode):
      self.executor = executor
      configuration.taskExecutor = executor
      tier = kind.makeTier(commits: mode, executor: executor)
    case .directory:
      executor = nil
      tier = kind.isOwn ? kind.makeTier(commits: .immediate, executor: nil) : nil
    }
    let situation = combination.situation
    let expiry = Self.expiry(for: combination.operation, situation)
    file =
      kind.isReadOnly
      ? try await ReadOnlyFile(for: situation, over: backing, tier, clock, expiry: expiry) : nil
    if let file { file.note(in: journal, audit) }
    var settings = Self.settings(for: combination.operation, checkpoint: checkpoint, journal: journal)
    settings.tiers = kind.usesMemory ? .both : .secondTierOnly
    schema = situation == .olderRecord ? Self.schema : nil
    isIdling = situation == .dueUseOnDisk
    settings.schema = schema
    if kind == .memory {
      store = nil
      other = nil
      settings.memoryLimit = .bytes(kind.memoryLimit)
      cache = try Cache(settings: settings, expiry: expiry, configuration: configuration)
      return
    }
    configuration.isReadOnly = kind.isReadOnly
    let store = try Self.openStore(kind, over: backing, tier, configuration)
    self.store = store
    cache = try store.cache(
      Self.partition, codec: DocumentCodec(), keyedBy: String.self, expiry: expiry, configuration: settings)
    other = combination.usesBoth ? try Self.otherCache(of: store) : nil
    if situation == .olderRecord, file == nil {
      // Before the observers begin, because no event announces the record.
      let began = journal.tick()
      let mark = journal.mark(.situation)
      Self.leaveRecord(Document(mark), version: 0, in: cache, clock)
      audit.assume(Document(mark), forKey: Self.key)
      noteReplacement(by: mark, since: began)
    }
  }

  /// Opens a store over a tier, in a directory, or in memory.
  static func openStore(
    _ kind: CacheKind, over backing: Backing, _ tier: (any TrialTier)?, _ configuration: Store.Configuration
  ) throws -> Store {
    let limit = ByteCount.bytes(kind.memoryLimit)
    if tier == nil, kind.hasSecondTier, case .directory(let path) = backing {
      return try Store(directory: path, memoryLimit: limit, diskLimit: .mebibytes(1), configuration: configuration)
    }
    return try Store(secondTier: tier, memoryLimit: limit, configuration: configuration)
  }

  /// Opens the other cache. Its values have no lifetime.
  static func otherCache(of store: Store) throws -> Cache<String, Document> {
    try store.cache(
      otherPartition, codec: DocumentCodec(), keyedBy: String.self,
      configuration: CacheConfiguration(weigher: { _ in 1 }))
  }

  static let expiry = Expiry.after(lifetime, graceStale: grace).refreshedAhead(at: refreshFraction)
  /// The schema of a cache whose first read migrates a record.
  static let schema = CacheSchema<Document>(version: 1) { bytes, _ in DocumentCodec().decode(bytes) }

  static func expiry(for operation: OperationInProgress, _ situation: Situation) -> Expiry {
    if operation.hasWindows { return expiryWithWindows }
    return situation == .dueUseOnDisk ? expiry.idle(idleTime) : expiry
  }

  static let expiryWithWindows = Expiry.after(lifetime, staleWhileRevalidate: revalidation, staleIfError: grace)

  private static func settings(
    for operation: OperationInProgress, checkpoint: Checkpoint, journal: Journal
  ) -> CacheConfiguration<Document> {
    var settings = CacheConfiguration<Document>(weigher: { _ in 1 })
    settings.refreshRetryInterval = retryInterval
    if operation == .load(.limited) { settings.flightLimit = 1 }
    if operation == .load(.breaking) {
      settings.circuitBreaker = CircuitBreaker(opensAfter: .consecutiveFailures(1), openDuration: openDuration)
    }
    if operation.comparesValues { settings.isEqual = (==) }
    if operation.merges {
      settings.merge = { cached, incoming in
        journal.change { $0.attempts += 1 }
        checkpoint.passAtOnce(.merge)
        return Document.union(cached, incoming)
      }
    }
    return settings
  }

  /// Starts a task on the trial's executor.
  func task(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    Task(executorPreference: executor) { await body() }
  }

  /// Like ``task(_:)``, and records the task as a caller of the first operation.
  func caller(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    let task = task(body)
    callers.record(task)
    return task
  }
}
