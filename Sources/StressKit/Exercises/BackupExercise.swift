import Cistern
import Foundation
import Locking

/// An exercise in which clients back up the store that others write, open the copies, and verify the store.
///
/// A copy has whole batches, and each batch that had ended when the copy began.
final class BackupExercise: Exercise {
  private struct Opened: Sendable {
    let store: Store
    let cache: Cache<String, UInt64>
  }

  private let opened = Guarded<Opened?>(nil)
  /// The batches of each client. Each client writes a separate pair of keys.
  private let batches = Guarded<[Int: CopyRule.Batches]>([:])
  private let violations: ViolationLog
  /// The directory of the copies. The end of a run removes it, even if a user ends the process during a backup.
  private let temporary: String

  init(violations: ViolationLog, temporary: String = NSTemporaryDirectory()) {
    self.violations = violations
    self.temporary = temporary
  }

  func open(in store: Store, isFirst: Bool) throws {
    let cache = try Self.cache(of: store)
    if isFirst { cache.removeAll() }
    opened.withLock { $0 = Opened(store: store, cache: cache) }
  }

  private static func cache(of store: Store) throws -> Cache<String, UInt64> {
    try store.cache("copied", of: UInt64.self, keyedBy: String.self)
  }

  private static func left(_ client: Int) -> String { "client\(client)/left" }
  private static func right(_ client: Int) -> String { "client\(client)/right" }

  func perform(by client: Performer) async {
    guard let current = opened.withLock({ $0 }) else { preconditionFailure("the exercise was not opened") }
    switch client.index(below: 40) {
    case 0: await client.measure { await backUp(current.store) }
    case 1: await client.measure { await verify(current.store) }
    default: await client.measure { write(current.cache, as: client.number) }
    }
  }

  private func write(_ cache: Cache<String, UInt64>, as client: Int) -> Outcome {
    let number = batches.withLock { batches in
      batches[client, default: CopyRule.Batches()].begun += 1
      return batches[client]!.begun
    }
    do {
      try cache.batch { batch in
        batch.setValue(number, forKey: Self.left(client))
        batch.setValue(number, forKey: Self.right(client))
      }
    } catch {
      return violations.judge(error, of: "\(Self.left(client)): a batch")
    }
    batches.withLock { $0[client]!.ended = number }
    return .batched
  }

  private func backUp(_ store: Store) async -> Outcome {
    let directory = temporary + "/cistern-stress-copy-\(UUID().uuidString)"
    // A failed backup leaves no directory.
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let before = batches.withLock { $0 }
    do {
      try await store.backup(to: directory)
      let after = batches.withLock { $0 }
      try await check(directory, before: before, after: after)
      return .copied
    } catch {
      return violations.judge(error, of: "a backup")
    }
  }

  private func check(
    _ directory: String, before: [Int: CopyRule.Batches], after: [Int: CopyRule.Batches]
  ) async throws {
    let copy = try Store(directory: directory, memoryLimit: .kibibytes(32), diskLimit: .mebibytes(64))
    let cache = try Self.cache(of: copy)
    for (client, ended) in after {
      let wrong = CopyRule.judge(
        cache.value(forKey: Self.left(client)), cache.value(forKey: Self.right(client)),
        before: before[client] ?? CopyRule.Batches(), after: ended)
      if let wrong { violations.report(.torn, "the pair of client \(client): \(wrong)") }
    }
    _ = await verify(copy)
    try await copy.close()
  }

  private func verify(_ store: Store) async -> Outcome {
    do {
      for defect in try await store.verify().defects {
        violations.report(.corrupt, "a verification found: \(defect.description)")
      }
      return .verified
    } catch {
      return violations.judge(error, of: "a verification")
    }
  }

  func settle() async {
    guard let current = opened.withLock({ $0 }) else { return }
    _ = await verify(current.store)
  }
}
