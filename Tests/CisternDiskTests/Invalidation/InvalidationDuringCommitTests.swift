import CisternTestSupport
import Foundation
import LMDB
import Locking
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Removals by tag that are staged while a commit group is written. A power cut or a backup can show the file between
/// that group and the one with the removal.
@Suite struct InvalidationDuringCommitTests {
  private func write(
    _ key: String, _ text: String, tags: [String] = [], isSet: Bool = true, in cache: any TransactionalPartition
  ) -> StagedWrite {
    var metadata = RecordMetadata(created: WallTime(nanosecondsSince1970: 1), cost: 1, tags: tags)
    metadata.localVersion = cache.invalidationVersion
    metadata.isSet = isSet
    return .record(key: bytes(key), metadata, bytes: bytes(text))
  }

  /// A tier that runs an action inside the next transaction, which then fails and is repeated.
  private func openTier(
    _ scratch: TemporaryDirectory, _ layout: DiskLayout, during action: Switch<@Sendable () -> Void>
  ) throws -> DiskTier {
    let faults = DiskFaults {
      guard let action = action.take() else { return nil }
      action()
      return .mapFull
    }
    // Only a flush commits, so the removal is not committed by itself.
    return try CisternTestSupport.openTier(scratch, layout: layout, interval: .unreachable, faults: faults)
  }

  /// Returns what another process would find if the power failed now.
  private func contents(of scratch: TemporaryDirectory, _ names: [String]) async throws -> [Set<String>] {
    let copy = TemporaryDirectory()
    try FileManager.default.copyItem(atPath: scratch.store, toPath: copy.store)
    let tier = try CisternTestSupport.openTier(copy)
    let keys = try names.map { try tier.cache($0).keys() }
    #expect(tier.checkInvariants() == [])
    try await tier.close()
    return keys
  }

  @Test(arguments: DiskLayout.both, [true, false])
  func `a removal by tag during the commit of a batch does not divide the batch`(
    layout: DiskLayout, isSet: Bool
  ) async throws {
    let scratch = TemporaryDirectory()
    let action = Switch<@Sendable () -> Void>()
    let tier = try openTier(scratch, layout, during: action)
    let (one, two) = (try tier.cache("one"), try tier.cache("two"))
    for key in ["a", "b"] { _ = one.stage(write(key, "old", in: one)) }
    _ = two.stage(write("c", "old", in: two))
    try await tier.flush()
    let batch = tier.beginBatch()
    _ = one.stage(write("a", "new", tags: ["tag"], isSet: isSet, in: one), in: batch)
    _ = one.stage(write("b", "new", in: one), in: batch)
    _ = two.stage(write("c", "new", tags: ["tag"], in: two), in: batch)
    let ticket = tier.endBatch(batch)
    action.set { _ = one.stageInvalidation(.tag("tag")) }
    try await tier.waitForCommit(ticket)
    #expect(one.keys() == ["b"])
    #expect(two.keys() == ["c"])
    #expect(try await contents(of: scratch, ["one", "two"]) == [["a", "b"], ["c"]])
    // The removal has its own commit, and holds for the record that was committed before.
    try await tier.purge()
    #expect(one.keys() == ["b"])
    #expect(try await contents(of: scratch, ["one", "two"]) == [["b"], ["c"]])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test(arguments: DiskLayout.both)
  func `a removal by tag of the same commit group conceals the values that were set before it`(
    layout: DiskLayout
  ) async throws {
    let scratch = TemporaryDirectory()
    let action = Switch<@Sendable () -> Void>()
    let tier = try openTier(scratch, layout, during: action)
    let cache = try tier.cache()
    let found = Guarded<[String: Bool]>([:])
    _ = cache.stage(write("before", "1", tags: ["tag"], in: cache))
    _ = cache.stageInvalidation(.tag("tag"))
    _ = cache.stage(write("after", "1", tags: ["tag"], in: cache))
    action.set {
      found.withLock { found in
        for key in ["before", "after"] { found[key] = cache.contains(bytes(key).rawSpan) }
      }
    }
    try await tier.flush()
    #expect(found.withLock { $0 } == ["before": false, "after": true])
    #expect(cache.keys() == ["after"])
    #expect(try await contents(of: scratch, ["cache"]) == [["after"]])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }
}
