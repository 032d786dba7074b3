import CisternTesting
import Locking

@testable import Cistern

/// The cache of one trial, its surroundings, and what the operations of the trial share.
struct Arena: Sendable {
  static let key = "a/key"
  static let prefix = "a/"
  static let tag = "tag"
  static let bystander = "b/bystander"
  /// A key that has no value in the beginning.
  static let absentKey = "c/absent"
  /// A key that only a load in a callback asks for.
  static let nestedKey = "c/nested"
  static let otherPrefix = "b/"
  static let otherTag = "other tag"
  static let partition = "documents"

  /// The tag that values of a key have.
  static func tag(ofKey key: String) -> String { key == bystander ? otherTag : tag }

  static let lifetime = Duration.seconds(10)
  static let grace = Duration.seconds(100_000)
  static let refreshFraction = 0.8
  static let retryInterval = Duration.seconds(60)
  static let timeout = Duration.seconds(5)

  let kind: CacheKind
  let cache: Cache<String, Document>
  let store: Store?
  /// The second tier of a seeded trial; nil without one, and where the disk is real.
  let tier: FaultInjectingTier?
  let clock = ManualClock()
  let executor: (any TaskExecutor)?
  let journal = Journal()
  let audit = DocumentAudit()
  let checkpoint: Checkpoint
  /// The tags that writes give which depend on the cached value: nil if there is one, whose tags must stay.
  let tagsOfDependentWrites: [String]?
  /// The callers of the first operation, for a cancellation.
  let callers = Recorder<Task<Void, Never>>()
  /// Where fetches wait that an operation holds itself.
  let hold = Gate()

  /// What the cache is over.
  enum Backing: Sendable {
    /// A tier without threads, for a seeded schedule.
    case seeded(SeededExecutor, FaultInjectingTier.CommitMode)
    /// A directory.
    case directory(String)
  }

  init(for combination: Combination, over backing: Backing, checkpoint: Checkpoint) throws {
    let kind = combination.kind
    self.kind = kind
    self.checkpoint = checkpoint
    tagsOfDependentWrites = combination.situation.hasValue ? nil : [Self.tag]
    var configuration = Store.Configuration()
    configuration.clock = clock
    configuration.respondsToMemoryPressure = false
    let settings = Self.settings(for: combination.operation, checkpoint: checkpoint, journal: journal)
    switch backing {
    case .seeded(let executor, let mode):
      self.executor = executor
      configuration.taskExecutor = executor
      tier = kind.keepsEvicted ? FaultInjectingTier(commits: mode, taskExecutor: executor) : nil
    case .directory:
      executor = nil
      tier = nil
    }
    let limit = ByteCount.bytes(kind.memoryLimit)
    switch (kind, backing) {
    case (.memory, _):
      store = nil
      var bounded = settings
      bounded.memoryLimit = limit
      cache = try Cache(settings: bounded, expiry: Self.expiry, configuration: configuration)
      return
    case (.memoryStore, _), (_, .seeded):
      store = try Store(secondTier: tier, memoryLimit: limit, configuration: configuration)
    case (_, .directory(let path)):
      store = try Store(directory: path, memoryLimit: limit, diskLimit: .mebibytes(1), configuration: configuration)
    }
    cache = try store!.cache(
      Self.partition, codec: DocumentCodec(), keyedBy: String.self, expiry: Self.expiry, configuration: settings)
  }

  static let expiry = Expiry.after(lifetime, graceStale: grace).refreshedAhead(at: refreshFraction)

  private static func settings(
    for operation: OperationInProgress, checkpoint: Checkpoint, journal: Journal
  ) -> CacheConfiguration<Document> {
    var settings = CacheConfiguration<Document>(weigher: { _ in 1 })
    settings.refreshRetryInterval = retryInterval
    if operation == .load(.limited) { settings.flightLimit = 1 }
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

  /// A task where the trial's tasks run.
  func task(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    Task(executorPreference: executor) { await body() }
  }

  /// As ``task(_:)``, for a caller of the first operation.
  func caller(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    let task = task(body)
    callers.record(task)
    return task
  }
}
