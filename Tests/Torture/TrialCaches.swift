import Cistern
import CisternDisk

/// The two caches of a trial's store. Neighboring keys belong to different caches, so that each batch concerns both.
struct TrialCaches {
  let tier: DiskTier
  private let partitions: [any TransactionalPartition]

  init(_ tier: DiskTier) throws {
    self.tier = tier
    partitions = try ["cache", "other"].map { try tier.diskPartition(named: $0) }
  }

  /// The cache that a key belongs to.
  subscript(key: Int) -> any TransactionalPartition { partitions[key % partitions.count] }

  /// Suspends while more is staged than the store allows. The bound applies to the store as a whole.
  func waitForRoom() async { await partitions[0].waitForRoom() }

  /// Stages the writes of an operation.
  func stage(_ step: Script.Step, number: Int, of script: Script) {
    switch step {
    case .set(let key): _ = self[key].stage(script.record(key, number))
    case .remove(let key): _ = self[key].stage(.removal(key: Script.key(key)))
    case .renew(let key): renew(key, number)
    case .batch(let keys):
      let batch = tier.beginBatch()
      for key in keys { _ = self[key].stage(script.record(key, number), in: batch) }
      _ = tier.endBatch(batch)
    }
  }

  /// Stages the key's record with the time of an operation, on the condition that no other one replaces it before.
  private func renew(_ key: Int, _ number: Int) {
    let read = self[key].withRecord(forKey: Script.key(key).rawSpan) { metadata, bytes in
      (RecordIdentity(metadata, bytes: bytes), copy(bytes))
    }
    guard let (identity, bytes) = read else { return }
    _ = self[key].stage(Script.record(key, number, bytes: bytes), if: .identity(identity))
  }

  /// Calls `body` with the key of each record, until it returns false.
  func forEachRecord(_ body: () -> Bool) {
    for partition in partitions { partition.forEachRecord { _, _, _ in body() } }
  }
}
