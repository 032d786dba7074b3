import CisternTestSupport
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Fetched values that another process has invalidated, and the records that it has written since.
@Suite(.serialized) struct ExcludedFetchTests {
  private static let key = bytes("key-0")

  /// The time at which the fetched value is staged.
  enum Staging: CaseIterable {
    /// Before this process can have learned of the invalidation.
    case before
    /// Before it, and over a staged value.
    case beforeOverStaged
    /// After this process has learned of it.
    case after
  }

  /// Lets another process do its work to the end.
  private func run(_ work: String, in scratch: TemporaryDirectory, with arguments: [String]) throws {
    let child = try ChildProcess([work, scratch.store, "\(16 << 20)", "processCrash"] + arguments)
    _ = try #require(child.readLine())
    _ = child.kill()
  }

  @Test(arguments: Staging.allCases, [["purge"], ["purge", "key-"]])
  func `an excluded fetch leaves the record that another process wrote after its invalidation`(
    staging: Staging, invalidation: [String]
  ) async throws {
    for isReplaced in [true, false] {
      let scratch = TemporaryDirectory()
      let tier = try openTier(scratch, interval: .unreachable)
      let cache = try tier.cache()
      // Without the tag: only the fetched value ends it.
      cache.put(Self.key, bytes("older"))
      try await tier.flush()
      let fetched = DiskPartition.write(
        Self.key, bytes("fetched"), tags: ["gone"], invalidationVersion: cache.invalidationVersion)
      if staging == .beforeOverStaged { cache.put(Self.key, bytes("staged")) }
      if staging != .after { _ = cache.stage(fetched) }
      try run(invalidation[0], in: scratch, with: Array(invalidation.dropFirst()))
      if isReplaced { try run("replace", in: scratch, with: []) }
      // A look at the disk learns of the invalidation.
      _ = cache.get("other")
      if staging == .after, case .staged = cache.stage(fetched) { Issue.record("the fetched value was staged") }
      let left: [UInt8]? = isReplaced ? [7] : nil
      for _ in 0..<2 {
        #expect(cache.get(Self.key) == left)
        #expect(cache.has(Self.key) == isReplaced)
        #expect(cache.keys() == (isReplaced ? ["key-0"] : []))
        try await tier.flush()
      }
      #expect(tier.checkInvariants() == [])
      try await tier.close()
      let reopened = try openTier(scratch)
      #expect(try reopened.cache().get(Self.key) == left)
      try await reopened.close()
    }
  }

  @Test func `an excluded fetch whose commit fails leaves the record of another process`() async throws {
    let scratch = TemporaryDirectory()
    let failing = Switch<DiskFaults.Fault>()
    let tier = try openTier(scratch, interval: .unreachable, faults: DiskFaults { failing.take() })
    let cache = try tier.cache()
    let version = cache.invalidationVersion
    _ = cache.stage(DiskPartition.write(Self.key, bytes("fetched"), tags: ["gone"], invalidationVersion: version))
    try run("purge", in: scratch, with: [])
    try run("replace", in: scratch, with: [])
    _ = cache.get("other")
    failing.set(.inputOutput)
    await #expect(throws: CisternError.self) { try await tier.flush() }
    try? await tier.flush()
    #expect(tier.engine.mode == .active)
    #expect(cache.get(Self.key) == [7])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test func `an excluded fetch in a batch leaves the record of another process, and the others are written`()
    async throws
  {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch, interval: .unreachable)
    let cache = try tier.cache()
    let version = cache.invalidationVersion
    let batch = cache.beginBatch()
    _ = cache.stage(
      DiskPartition.write(Self.key, bytes("fetched"), tags: ["gone"], invalidationVersion: version), in: batch)
    _ = cache.stage(DiskPartition.write(bytes("key-1"), bytes("kept"), invalidationVersion: version), in: batch)
    cache.endBatch(batch)
    try run("purge", in: scratch, with: [])
    try run("replace", in: scratch, with: [])
    try await tier.flush()
    #expect(cache.get(Self.key) == [7] && cache.get("key-1") == bytes("kept"))
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test func `an own invalidation of an excluded fetch removes each record`() async throws {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch, interval: .unreachable)
    let cache = try tier.cache()
    cache.put(Self.key, bytes("older"))
    try await tier.flush()
    let version = cache.invalidationVersion
    try run("purge", in: scratch, with: [])
    try run("replace", in: scratch, with: [])
    _ = cache.stage(
      DiskPartition.write(Self.key, bytes("fetched"), tags: ["gone", "own"], invalidationVersion: version))
    _ = cache.stageInvalidation(.tag("own"))
    for _ in 0..<2 {
      #expect(cache.get(Self.key) == nil && !cache.has(Self.key) && cache.keys() == [])
      try await tier.flush()
    }
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }
}
