import Cistern
import CisternTesting
import CisternTestSupport
import Foundation
import Locking

@testable import CisternCore

/// The file of a read-only store. Another store has written it before.
///
/// A value that is in memory when the trial begins is in the file, too, in one half of the trials. In the other half,
/// the read-only store itself sets it, so that memory alone has it.
final class ReadOnlyFile: Sendable {
  /// The mark of the key's value in the file; nil if the file has none.
  let mark: Int?
  /// The committed bytes of the key and the bystander in the tier, or the file itself.
  private let contents: Guarded<[[UInt8]?]>
  private let read: @Sendable () -> [[UInt8]?]
  /// The tier of a seeded trial.
  private let tier: FaultInjectingTier?
  private let expiry: Expiry

  /// Writes the file, and closes it.
  init(
    for situation: Situation, over backing: Arena.Backing, _ tier: (any TrialTier)?, _ clock: ManualClock,
    expiry: Expiry
  ) async throws {
    var configuration = Store.Configuration.ignoringMemoryPressure(clock: clock)
    if case .seeded(let executor, _) = backing { configuration.taskExecutor = executor }
    let store = try Arena.openStore(.disk, over: backing, tier, configuration)
    let cache = try store.cache(
      Arena.partition, codec: DocumentCodec(), keyedBy: String.self, expiry: expiry,
      configuration: CacheConfiguration(weigher: { _ in 1 }))
    cache.setValue(Document(), forKey: Arena.bystander, tags: [Arena.otherTag])
    let hasValue = situation.hasValue && (situation.isOnDiskOnly || !Self.leavesValueToMemory(backing))
    mark = hasValue ? 1 : nil
    if hasValue { cache.setValue(Document(1), forKey: Arena.key, tags: [Arena.tag]) }
    if situation == .newerRecord { Arena.leaveRecord(Document(0), version: 7, in: cache, clock) }
    try await store.flush()
    switch (backing, tier) {
    case (.directory(let path), _):
      try await store.close()
      read = { [(try? Data(contentsOf: URL(fileURLWithPath: path + "/data.mdb"))).map { [UInt8]($0) }] }
    case (.seeded, let tier?):
      (tier as? FaultInjectingTier)?.setMode(.readOnly)
      read = { [Arena.key, Arena.bystander].map { tier.committedBytes(of: $0, in: Arena.partition) } }
    case (.seeded, nil): preconditionFailure("a read-only store needs a tier")
    }
    contents = Guarded(read())
    self.tier = tier as? FaultInjectingTier
    self.expiry = expiry
  }

  private static func leavesValueToMemory(_ backing: Arena.Backing) -> Bool {
    if case .seeded(_, .onDemand) = backing { true } else { false }
  }

  /// Notes the values of the file in a trial that has noted nothing yet.
  func note(in journal: Journal, _ audit: DocumentAudit) {
    audit.assume(Document(), forKey: Arena.bystander)
    guard let mark else { return }
    audit.assume(Document(mark), forKey: Arena.key)
    let began = journal.tick()
    precondition(journal.mark(.situation) == mark)
    journal.change { $0.markInFile = mark }
    journal.noteErasure(.replacement, since: began)
    journal.noteStored(mark, since: began)
  }

  /// Changes the record of the key, as another process does. Does nothing over a real disk.
  func change(to document: Document?, at time: WallTime) {
    let record = document.map { document in
      StoredRecord(
        metadata: expiry.metadata(created: time, cost: 1, tags: [Arena.tag]), bytes: DocumentCodec().encode(document))
    }
    tier?.changeAsOtherProcess(Arena.key, in: Arena.partition, to: record)
    let changed = read()
    contents.withLock { $0 = changed }
  }

  /// Whether the file is as other processes have written it.
  var isUnchanged: Bool { contents.withLock { $0 } == read() }
}
