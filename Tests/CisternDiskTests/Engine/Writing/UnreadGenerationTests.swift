import CisternTestSupport
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Partitions whose generation could not be read when they were opened, because no reader slot was free.
@Suite struct UnreadGenerationTests {
  @Test(arguments: DiskLayout.both, [false, true])
  func `the writer thread reads the generation, with or without a write`(
    layout: DiskLayout, isWritten: Bool
  ) async throws {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch, layout: layout)
    let (cache, other) = (try tier.cache(), try tier.cache("other"))
    cache.put("before", bytes("before"))
    try await tier.flush()
    let partition = tier.engine.partition(named: "cache")
    _ = partition.forgetFile()
    if isWritten {
      other.put("k", bytes("other"))
      try await tier.flush()
    } else {
      tier.engine.wakeForMaintenance()
      while !partition.isLearned { await Task.yield() }
    }
    #expect(cache.get("before") == bytes("before") && cache.keys() == ["before"])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }
}
