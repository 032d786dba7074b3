import CisternTestSupport
import Locking
import Testing

@testable import CisternCore
@testable import CisternDisk

// Writes between two transactions of one commit group.

extension DiskRewritingTests {
  /// The writes that can follow a rewrite in the middle of a group of transactions.
  enum Follower: CaseIterable {
    case removal, removalOfEnded, rewrite
  }

  @Test(arguments: Follower.allCases, [1, 2])
  func `what is staged over a rewrite is read before and after its commit`(
    follower: Follower, transaction: Int
  ) async throws {
    let scratch = TemporaryDirectory()
    let atTransaction = Guarded<(@Sendable (Int) -> Void)?>(nil)
    let count = Guarded(0)
    let (tier, cache) = try await open(
      scratch,
      faults: DiskFaults {
        guard let body = atTransaction.withLock({ $0 }) else { return nil }
        body(
          count.withLock {
            $0 += 1
            return $0
          })
        return nil
      })
    _ = cache.stage(Self.record("value", until: 800, usedAt: 400))
    try await tier.flush()
    _ = cache.stage(
      Self.record("value", until: 900, usedAt: 500), if: .identity(try identity(of: cache)))
    let rewritten = try identity(of: cache)
    // The group has two transactions, because the batch does not fit into that of the rewrite.
    let batch = cache.beginBatch()
    for number in 0..<10 {
      _ = cache.stage(DiskPartition.write(bytes("last-\(number)"), value(number, size: 45_000)), in: batch)
    }
    cache.endBatch(batch)
    let seen = Guarded<[[UInt8]?]>([])
    atTransaction.withLock {
      $0 = { number in
        if number == transaction {
          switch follower {
          case .removal: _ = cache.stage(.removal(key: Self.key), if: .identity(rewritten))
          case .removalOfEnded: _ = cache.stage(.removal(key: Self.key), if: .ended(by: Self.ended))
          case .rewrite:
            _ = cache.stage(Self.record("newer", until: 1_300, usedAt: 900), if: .identity(rewritten))
          }
        }
        guard (transaction...2).contains(number) else { return }
        let value = cache.get(Self.key)
        seen.withLock { $0.append(cache.has(Self.key) == (value != nil) ? value : bytes("unequal")) }
      }
    }
    try await tier.flush()
    atTransaction.withLock { $0 = nil }
    let left = follower == .rewrite ? bytes("newer") : nil
    #expect(seen.withLock { $0.count == 3 - transaction && $0.allSatisfy { $0 == left } }, "\(seen.withLock { $0 })")
    try await tier.flush()
    #expect(cache.get(Self.key) == left)
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }
}
