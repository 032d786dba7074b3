import CisternCore
import CisternDisk
import Locking
import TestDirectories

/// A small tier with a record that a test reads for so long that writes fill the file.
package struct TierWithLongReader {
  package let tier: DiskTier
  package let cache: any TransactionalPartition

  package init(
    _ directory: TemporaryDirectory, layout: DiskLayout = .tested, delivered: DeliveredReports, patience: Duration
  ) async throws {
    var options = DiskOptions(
      limit: .mebibytes(1), layout: layout, durability: .processCrash, commitInterval: .milliseconds(1))
    options.readerPatience = patience
    options.retryInterval = .unreachable
    tier = try DiskTier(directory: directory.store, options: options) { report in
      delivered.reports.withLock { $0.append(report) }
    }
    cache = try tier.cache(delivered: delivered)
    cache.put("held", bytes("held"))
    try await tier.flush()
  }

  /// Reads the record, and writes others until the tier is degraded. The body gets the record, and also runs during the
  /// read.
  ///
  /// The read runs on a thread of its own. The body may wait for tasks, and a blocked thread of the pool could be the
  /// one that these tasks need.
  package func fillDuringRead(_ body: @escaping @Sendable (_ held: [UInt8]) -> Void) async throws {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      do {
        try SystemThread.start {
          readWhileFilling(body)
          continuation.resume()
        }
      } catch {
        continuation.resume(throwing: error)
      }
    }
  }

  private func readWhileFilling(_ body: (_ held: [UInt8]) -> Void) {
    let key = bytes("held")
    cache.withRecord(forKey: key.rawSpan) { _, held in
      // The reading thread itself does not wait for room.
      let isFilled = Monitor(false)
      do {
        try SystemThread.start {
          fill()
          isFilled.change { $0 = true }
        }
      } catch {
        fatalError("a thread could not be started: \(error)")
      }
      isFilled.wait { $0 ? () : nil }
      body(held.copiedBytes())
    }
  }

  private func fill() {
    var number = 0
    while cache.mode == .active, number < 20_000 {
      number += 1
      cache.put("k\(number)", value(number, size: 1000))
      cache.waitForRoom()
    }
  }
}
