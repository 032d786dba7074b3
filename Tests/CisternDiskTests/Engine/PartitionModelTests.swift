import CisternTesting
import CisternTestSupport
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Applies the same random writes, batches and invalidations to a partition and to its model.
@Suite struct PartitionModelTests {
  @Test func `in memory, the contents after a crash are those after a whole number of batches`()
    async throws
  {
    for seed in 0..<40 as Range<UInt64> {
      var generator = SeededGenerator(seed: seed)
      var model = PartitionModel()
      var tier = FaultInjectingTier(commits: .onDemand)
      var partition = try tier.transactionalPartition(named: "cache")
      var flushed = model
      var history: [[[UInt8]: [UInt8]]] = [[:]]
      for step in 0..<300 {
        model.step(on: partition, oldestVersion: flushed.invalidationVersion, using: &generator)
        history.append(model.present)
        if Int.random(in: 0..<20, using: &generator) == 0 { tier.commit(Int.random(in: 1...5, using: &generator)) }
        switch Int.random(in: 0..<60, using: &generator) {
        case 0:
          try await tier.flush()
          model.expectAgreement(with: partition, "seed \(seed), step \(step)")
          flushed = model
          history = [model.present]
        case 1:
          tier = tier.reopenedAfterCrash()
          partition = try tier.transactionalPartition(named: "cache")
          var present: [[UInt8]: [UInt8]] = [:]
          for key in PartitionModel.keys { present[key] = partition.get(key) }
          // Computed outside the expectation, because a failure would print all contents.
          let isWhole = history.contains(present)
          #expect(isWhole, "seed \(seed), step \(step)")
          // The surviving step is unknown, so the test continues with an empty partition.
          model = PartitionModel()
          tier = FaultInjectingTier(commits: .onDemand)
          partition = try tier.transactionalPartition(named: "cache")
          flushed = model
          history = [[:]]
        default: break
        }
      }
      try await tier.flush()
      model.expectAgreement(with: partition, "seed \(seed)")
    }
  }

  @Test func `on disk, the contents are the written ones across flushes and reopenings`() async throws {
    for seed in 0..<12 as Range<UInt64> {
      let scratch = TemporaryDirectory()
      var generator = SeededGenerator(seed: seed)
      var model = PartitionModel()
      let delivered = DeliveredReports()
      var tier = try openTier(scratch, limit: .mebibytes(32), delivered: delivered)
      var partition = try tier.cache(delivered: delivered)
      var oldestVersion: UInt64 = 0
      for step in 0..<400 {
        model.step(on: partition, oldestVersion: oldestVersion, using: &generator)
        switch Int.random(in: 0..<100, using: &generator) {
        case 0..<3: try await tier.flush()
        case 3:
          try await tier.flush()
          model.expectAgreement(with: partition, "seed \(seed), step \(step)")
        case 4:
          try await tier.close()
          tier = try openTier(scratch, limit: .mebibytes(32), delivered: delivered)
          partition = try tier.cache(delivered: delivered)
          // The tier forgets purged invalidations when it closes, so later writes must be at least as new.
          oldestVersion = model.invalidationVersion
          for key in PartitionModel.keys { model.expectAgreement(key, with: partition, "seed \(seed), step \(step)") }
        default: break
        }
      }
      try await tier.purge()
      model.expectAgreement(with: partition, "seed \(seed)")
      #expect(partition.statistics.entryCount == model.present.count)
      #expect(tier.checkInvariants() == [], "seed \(seed)")
      #expect(delivered.reportCodes == [] && delivered.lost(.notWritten) == [], "seed \(seed)")
      try await tier.close()
    }
  }
}
