import Cistern
import CisternTesting
import CisternTestSupport
import Testing

/// Batches and edits over LMDB.
struct EditingOnDiskTests {
  private func open(_ scratch: TemporaryDirectory) throws -> (Store, Cache<String, [UInt8]>) {
    let store = try Store(directory: scratch.store, memoryLimit: .kibibytes(64), diskLimit: .mebibytes(4))
    return (store, try store.cache("bytes", of: [UInt8].self, keyedBy: String.self))
  }

  @Test func `a committed batch and a committed draft are present after reopening, and an unconfirmed edit is not`()
    async throws
  {
    let scratch = TemporaryDirectory()
    do {
      let (store, cache) = try open(scratch)
      cache["removed"] = [1]
      try await cache.commitBatch { batch in
        for number in 0..<50 { batch.setValue([UInt8(number)], forKey: "\(number)") }
        batch.removeValue(forKey: "removed")
      }
      let draft = cache.draft()
      draft["0"] = [100]
      draft["drafted"] = [1]
      try await draft.commit()
      let gate = Gate()
      let edit = Task {
        try await cache.editValue(forKey: "1") { _ in
          [200]
        } confirmedBy: {
          try await gate.pass()
          return nil
        }
      }
      await gate.arrivals(atLeast: 1)
      #expect(cache["1"] == [200])
      try await store.flush()
      try await store.close()
      edit.cancel()
      _ = await edit.result
    }
    let (store, cache) = try open(scratch)
    #expect(store.reports.isEmpty)
    #expect(cache["0"] == [100] && cache["drafted"] == [1] && cache["removed"] == nil)
    #expect((1..<50).allSatisfy { cache["\($0)"] == [UInt8($0)] })
  }

  @Test func `a value that expires during an edit that fails is removed once, for observers and on disk`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(
        .twoTiers, on: executor, expiry: .after(.seconds(1), graceStale: .seconds(1)))
      let cache = subject.cache
      cache["a"] = 1
      let changes = Recorder<String>()
      let gate = Gate()
      let edit = Task(executorPreference: executor) {
        try await cache.editValue(forKey: "a") { _ in
          2
        } confirmedBy: {
          try await gate.pass()
          throw Broken()
        }
      }
      await gate.arrivals(atLeast: 1)
      let token = cache.observe { changes.record("\($0.event)") }
      subject.clock.advance(by: .seconds(3))
      gate.open()
      _ = await edit.result
      // The failure announces the removal, not the read that follows.
      for _ in 0..<50 { await Task.yield() }
      try #require(changes.count == 1)
      try #require(cache["a"] == nil)
      cache["a"] = 3
      for _ in 0..<50 { await Task.yield() }
      try #require(
        changes.elements == ["removed(\"a\", CisternCore.RemovalCause.expired)", "inserted(\"a\", 3)"])
      token.cancel()
    }
  }

  @Test func `a record that cannot be decoded is removed once under an edit that fails`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(.twoTiers, on: executor)
      let cache = subject.cache
      cache["a"] = 1
      cache.trim(toCost: 0)
      subject.tier?.corrupt("a", in: Subject.partition) { $0 = [1] }
      let changes = Recorder<String>()
      let token = cache.observe { changes.record("\($0.event)") }
      await #expect(throws: Broken.self) {
        try await cache.editValue(forKey: "a") { _ in
          2
        } confirmedBy: {
          throw Broken()
        }
      }
      try #require(cache["a"] == nil)
      cache["a"] = 3
      for _ in 0..<50 { await Task.yield() }
      try #require(
        changes.elements == [
          "removed(\"a\", CisternCore.RemovalCause.lost)", "inserted(\"a\", 2)",
          "removed(\"a\", CisternCore.RemovalCause.explicit)", "inserted(\"a\", 3)",
        ])
      try #require(cache.statistics.notDecodable == 1)
      token.cancel()
    }
  }

  enum Change: CaseIterable, Sendable { case update, edit, draft }

  @Test(arguments: Change.allCases)
  func `a record that cannot be decoded is reported and counted once by the write that reads it`(
    change: Change
  ) async throws {
    let tier = FaultInjectingTier()
    let store = try Store(secondTier: tier, memoryLimit: .mebibytes(1))
    let cache = try store.cache("numbers", of: Int.self, keyedBy: String.self)
    cache["a"] = 1
    cache.trim(toCost: 0)
    tier.corrupt("a", in: "numbers") { $0 = [1] }
    switch change {
    case .update:
      cache.updateValue(forKey: "a") { $0 = ($0 ?? 0) + 2 }
    case .edit:
      try await cache.editValue(forKey: "a") {
        ($0 ?? 0) + 2
      } confirmedBy: {
        nil
      }
    case .draft:
      let draft = cache.draft()
      draft["a"] = (draft["a"] ?? 0) + 2
      try draft.save()
    }
    #expect(cache["a"] == 2)
    #expect(store.reports.map(\.code) == [.notDecodable])
    #expect(cache.statistics.notDecodable == 1)
    #expect(cache.checkInvariants() == [])
  }

  @Test func `a batch that is too large or contains a value that is too large stores nothing`() throws {
    let scratch = TemporaryDirectory()
    let (store, cache) = try open(scratch)
    defer { withExtendedLifetime(store) {} }
    cache["0"] = [1]
    let many = #expect(throws: CisternError.self) {
      try cache.batch { batch in for number in 0..<10_000 { batch.setValue([2], forKey: "\(number)") } }
    }
    #expect(many?.code == .tooLarge)
    #expect(many?.message.contains("a quarter of the file, here 1012 KiB") == true)
    // A small value and a large one in one batch: the batch is stored either completely or not at all.
    for megabytes in [1, 2, 3, 4, 5] {
      let outcome = Result {
        try cache.batch { batch in
          batch.setValue([2], forKey: "0")
          batch.setValue([UInt8](repeating: 0, count: megabytes << 20), forKey: "large")
        }
      }
      if case .failure(let error) = outcome {
        #expect((error as? CisternError)?.code == .tooLarge && cache["0"] == [1] && cache["large"] == nil)
        #expect((error as? CisternError)?.message.contains("an eighth of the file, here 506 KiB") == true)
      } else {
        #expect(cache["0"] == [2] && cache["large"]?.count == megabytes << 20)
        cache["0"] = [1]
        cache["large"] = nil
      }
    }
    #expect(cache.checkInvariants() == [])
  }
}
